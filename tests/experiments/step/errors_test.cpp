#include "experiments/step/errors.hpp"

#include <algorithm>
#include <fstream>

#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::step::errors_test {
namespace {

using testing::good_step;

StepResult run(const input::Json& json) {
  return run_step(make_plan(config::read_step_config(json)), [](const std::string&) {});
}

const GroupResult& group(const VariantResult& variant, const std::string& name) {
  return *std::ranges::find(variant.groups, name, &GroupResult::name);
}

input::Json with_values(const char* values) {
  input::Json json = good_step();
  json["values"] = input::parse_json(values);
  return json;
}

TEST_CASE("a collective of a step has the error of the same experiment") {
  const input::Json json = with_values(
      R"([{"where": {"group": "bucket"}, "distribution": "heavy-tailed", "seed": 7, "sample": 0.1}])");
  const config::StepConfig config = config::read_step_config(json);
  const StepResult result = run(json);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    input::Json alone = input::parse_json(R"({
      "hardware": "tpu-v5e", "topology": {"ring": 4},
      "tensor": {"bytes": "4 MiB", "sample": 0.1,
                 "values": {"distribution": "heavy-tailed", "seed": 7}}})");
    config::CollectiveConfig collective = config.variants[i].collectives.front();
    alone["topology"] = {{"torus", "4"}};
    alone["collectives"] = input::Json::array(
        {config::collective_json(collective, collectives::Collective::all_reduce)});
    const auto expected =
        run::run_experiment(plan::make_plan(config::read_config(alone)), [](const std::string&) {})
            .runs.front()
            .numerics.value()
            .against_exact;
    const CallAccuracy& error = group(result.runs[i], "bucket").error.value();
    CHECK(error.nmse == expected.nmse);
    CHECK(error.mse == expected.mse);
    CHECK(result.runs[i].error.value().worst_nmse == expected.nmse);
    CHECK(result.runs[i].error.value().mean_nmse == Approx(expected.nmse));
  }
  CHECK(group(result.runs[1], "bucket").error->nmse >
        10.0 * group(result.runs[0], "bucket").error->nmse);
  CHECK_FALSE(group(result.runs[0], "forward").error);
}

TEST_CASE("values do not change times, and are computed on a sample by default") {
  const StepResult plain = run(good_step());
  const StepResult valued = run(with_values("[{}]"));
  for (std::size_t i = 0; i < plain.runs.size(); ++i)
    CHECK(plain.runs[i].time_s == valued.runs[i].time_s);
  CHECK_FALSE(plain.runs.front().error);
  CHECK(group(valued.runs.front(), "bucket").error->sampled_fraction < 0.2);
}

TEST_CASE("the mean error is weighted by the bytes of all tasks") {
  input::Json json = with_values("[{}]");
  json["step"]["tasks"].push_back(input::parse_json(
      R"({"name": "plain", "collective": {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "2 MiB"}})"));
  const VariantResult variant = run(json).runs.back();  // int8 along "data" only
  const double bucket = group(variant, "bucket").error->nmse;
  const double plain = group(variant, "plain").error->nmse;
  CHECK(variant.error->worst_nmse == bucket);
  CHECK(variant.error->mean_nmse == Approx((16.0 * bucket + 2.0 * plain) / 18.0));
}

TEST_CASE("values for nothing, or of another size, are refused") {
  testing::check_refused([] { run(with_values(R"([{"where": {"group": "none"}}])")); }, "/values/0",
                         "matches none of the step's collectives");
  testing::check_refused([] { run(with_values(R"([{"distribution": "normal", "kind": 1}])")); },
                         "/values/0/kind", "unknown key");
  testing::check_refused([] { run(with_values(R"([{"files": ["/nowhere.npy"]}])")); },
                         "/values/0/files/0", "/nowhere.npy");
  const testing::TemporaryDirectory folder;
  const std::string path = (folder.path() / "ranks.npy").string();
  std::ofstream(path, std::ios::binary)
      << testing::npy(testing::npy_header("<f4", "(4, 16)"), std::string(4 * 16 * 4, '\0'));
  const std::string rule = R"([{"files": [")" + path + R"("]}])";
  testing::check_refused([&] { run(with_values(rule.c_str())); }, "/values/0/files",
                         "have 16 elements, but those of 'bucket' have 2097152");
}

TEST_CASE("a step with values survives a round trip") {
  const input::Json json = with_values(R"([{"where": {"axis": "data"}, "sample": 0.5}])");
  const input::Json whole = to_json(config::read_step_config(json));
  CHECK(whole["values"] == json["values"]);
  CHECK(to_json(config::read_step_config(whole)) == whole);
}

}  // namespace
}  // namespace equarx::step::errors_test
