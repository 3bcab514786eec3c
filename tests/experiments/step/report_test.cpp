#include "experiments/step/report.hpp"

#include <sstream>

#include "experiments/config/step_json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::report_test {
namespace {

StepResult run(const input::Json& json) {
  return run_step(make_plan(config::read_step_config(json)), [](const std::string&) {});
}

TEST_CASE("tables list variants, and the groups of each") {
  const std::string text = to_table(run(testing::good_step()));
  for (const char* const part :
       {"Step of 10 tasks on 16 x tpu-v5e", "mesh: data=4, fsdp=4", "bf16", "int8", "bucket",
        "exposed", "offload", "Exploiting symmetry: 3 of 16 chips simulated"})
    CHECK_THAT(text, Catch::Contains(part));
  CHECK_THAT(to_table(run(testing::good_training())),
             Catch::Contains("MFU") && Catch::Contains("Memory per chip"));
}

TEST_CASE("serving reports tokens, but no MFU") {
  const StepResult result = run(testing::good_serving());
  CHECK_THAT(to_table(result), ContainsSubstring("Decode step of gemma3-12b on 16 x tpu-v6e") &&
                                   ContainsSubstring("tokens/s/chip") && ContainsSubstring("HFU") &&
                                   !ContainsSubstring("MFU"));
  const input::Json variant = to_json(result)["variants"][0];
  CHECK(variant.contains("tokens_per_s_per_chip"));
  CHECK_FALSE(variant.contains("model_flops_utilisation"));
}

TEST_CASE("JSON has every task and the configuration") {
  const input::Json json = to_json(run(testing::good_step()));
  CHECK(json["config"]["mesh"]["data"]["length"] == 4);
  REQUIRE(json["variants"].size() == 2);
  const input::Json& variant = json["variants"][1];
  CHECK(variant["tasks"].size() == 10);
  CHECK(variant["label"] == "int8");
  CHECK(variant["exposed_s"].get<double>() ==
        Approx(variant["time_s"].get<double>() - variant["compute_s"].get<double>()));
  CHECK(variant["critical_path"].size() >= 2);
}

TEST_CASE("metrics have names") {
  const std::vector<std::string> names = number_names();
  for (const char* const name : {"time_s", "speedup", "model_flops_utilisation"})
    CHECK(std::ranges::find(names, name) != names.end());
}

TEST_CASE("a trace has a track per stream and a slice per task") {
  std::ostringstream out;
  write_trace(run(testing::good_step()), out);
  const input::Json trace = input::Json::parse(out.str());
  std::size_t slices = 0;
  std::size_t tracks = 0;
  for (const input::Json& event : trace["traceEvents"]) {
    slices += event["ph"] == "X" ? 1 : 0;
    tracks += event["name"] == "thread_name" ? 1 : 0;
  }
  CHECK(slices == 20);
  CHECK(tracks == 6);
}

}  // namespace
}  // namespace equarx::step::report_test
