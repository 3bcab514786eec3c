#include "experiments/result/step_json.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::result::step_json_test {
namespace {

using testing::run_step;

TEST_CASE("JSON has every task and the configuration") {
  const input::Json json = to_json(run_step(testing::good_step()));
  CHECK_NOTHROW(input::check_schema(json, "result"));
  CHECK(json["config"]["mesh"]["data"]["length"] == 4);
  CHECK(json["baseline"] == "bf16");
  REQUIRE(json["runs"].size() == 2);
  const input::Json& variant = json["runs"][1];
  CHECK(variant["tasks"].size() == 10);
  CHECK(variant["label"] == "int8");
  CHECK(variant["exposed_s"].get<double>() ==
        Approx(variant["time_s"].get<double>() - variant["compute_s"].get<double>()));
  CHECK(variant["critical_path"].size() >= 2);
}

TEST_CASE("JSON has the isolated run of each collective, with links on request") {
  const step::StepResult result = run_step(testing::good_step());
  const input::Json plain = to_json(result)["runs"][0]["collectives"][0];
  CHECK(plain["group"] == "bucket");
  CHECK(plain["tasks"] == 4);
  CHECK(plain["breakdown"]["payload_s"].get<double>() > 0.0);
  CHECK_FALSE(plain.contains("links"));
  const input::Json linked = to_json(result, {.links = true});
  CHECK(linked["runs"][0]["collectives"][0]["links"].size() > 0);
}

TEST_CASE("collectives of listed groups have times, but no links of their own") {
  input::Json json = testing::good_step();
  json["step"]["tasks"][2]["collective"] = {{"kind", "all-reduce"},
                                            {"groups", input::Json::parse(R"([[0, 3, 5, 6],
      [1, 2, 4, 7], [8, 9, 10, 11], [12, 13, 14, 15]])")},
                                            {"bytes", "1 MiB"}};
  json.erase("variants");
  const input::Json result = to_json(run_step(json), {.links = true});
  CHECK_NOTHROW(input::check_schema(result, "result"));
  const input::Json& collective = result["runs"][0]["collectives"][0];
  CHECK(collective["time_s"].get<double>() > 0.0);
  CHECK_FALSE(collective.contains("links"));
  CHECK_FALSE(collective.contains("breakdown"));
}

TEST_CASE("serving has tokens and core times, but no MFU") {
  const input::Json variant = to_json(run_step(testing::good_serving()))["runs"][0];
  CHECK(variant.contains("tokens_per_s_per_chip"));
  CHECK(variant["matrix_s"].get<double>() > 0.0);
  CHECK_FALSE(variant.contains("model_flops_utilisation"));
}

TEST_CASE("metrics of a configuration have names") {
  const auto has = [](const input::Json& json, const std::string& name) {
    const std::vector<std::string> names = number_names(config::read_step_config(json));
    return std::ranges::find(names, name) != names.end();
  };
  for (const char* const name : {"time_s", "speedup", "model_flops_utilisation"})
    CHECK(has(testing::good_training(), name));
  CHECK_FALSE(has(testing::good_serving(), "model_flops_utilisation"));
  CHECK(has(testing::good_serving(), "matrix_s"));
  CHECK_FALSE(has(testing::good_step(), "matrix_s"));
  CHECK_FALSE(has(testing::good_step(), "worst_nmse"));
  input::Json computed = testing::good_step();
  computed["values"] = input::Json::array({input::Json::object()});
  computed["uncertainty"] = input::Json::object();
  CHECK(has(computed, "worst_nmse"));
  CHECK(has(computed, "uncertainty/time_low_s"));
}

}  // namespace
}  // namespace equarx::result::step_json_test
