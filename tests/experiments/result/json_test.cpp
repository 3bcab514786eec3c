#include "experiments/result/json.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "base/output/hash.hpp"
#include "base/output/provenance.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::result::json_test {
namespace {

using testing::changed;
using testing::good_config;

TEST_CASE("a result has version, configuration and parameters") {
  const input::Json json = to_json(testing::run(good_config()));
  CHECK(json["program"] == "equarx-sim");
  CHECK(json["version"] == output::version());
  CHECK(json["config"] == to_json(testing::plan_of(good_config()).config));
  CHECK(json["config_hash"] == output::config_hash(json["config"]));
  CHECK(json["parameters"]["collective_startup"]["class"] == "calibrated");
  CHECK(json["baseline"] == "bf16");
}

TEST_CASE("each run has the documented keys") {
  const input::Json json = to_json(testing::run(good_config()));
  REQUIRE(json["runs"].size() == 2);
  for (const input::Json& run : json["runs"]) {
    for (const std::string key : {"label", "time_s", "speedup", "lower_bound_s",
                                  "wire_bytes_per_link", "chips", "simulation", "numerics"})
      CHECK(run.contains(key));
    for (const std::string key : {"mse", "nmse", "sqnr_db", "mse_vs_baseline", "ranks_identical"})
      CHECK(run["numerics"].contains(key));
    CHECK(run["simulation"] == "symmetric");
    CHECK(run["chips"] == 8);
  }
  CHECK(to_json(testing::run(changed("/numerics", "off")))["runs"][0]["numerics"].is_null());
}

TEST_CASE("each run has a calibration flag, and the table a note if it is false") {
  input::Json config = good_config();
  config["topology"] = {{"mesh", "4x2"}};
  for (const auto& [chip, calibrated] : {std::pair{"tpu-v5e", true}, std::pair{"tpu-v4", false}}) {
    CAPTURE(chip);
    config["hardware"] = chip;
    const run::ExperimentResult result = testing::run(config);
    const input::Json json = to_json(result);
    for (const input::Json& run : json["runs"]) CHECK(run["calibrated"] == calibrated);
    CHECK((to_table(result).find("Not calibrated") == std::string::npos) == calibrated);
  }
}

TEST_CASE("number_names() returns the numbers of a run") {
  const auto names = [](const char* numerics) {
    const input::Json json = changed("/numerics", numerics);
    const run::ExperimentResult result = testing::run(json);
    std::vector<std::string> found;
    const input::Json members = to_json(result.runs[1]).flatten();
    for (const auto& [pointer, value] : members.items())
      if (value.is_number()) found.push_back(pointer.substr(1));
    found.emplace_back("failure/time_s");
    CHECK(number_names(result.config) == found);
    return found;
  };
  const std::vector<std::string> with_values = names("on");
  CHECK(std::ranges::count(with_values, "numerics/mse") == 1);
  CHECK(std::ranges::count(names("off"), "numerics/mse") == 0);
}

TEST_CASE("the resolved configuration of a result reproduces the result") {
  const input::Json once = to_json(testing::run(good_config()));
  CHECK(to_json(testing::run(once["config"])) == once);
}

TEST_CASE("the hash of a configuration is the hash of its text") {
  CHECK(output::config_hash(input::Json::object()) == output::text_hash("{}"));
  CHECK(output::config_hash(good_config()) !=
        output::config_hash(changed("/tensor/values/seed", "2")));
}

}  // namespace
}  // namespace equarx::result::json_test
