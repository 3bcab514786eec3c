#include "experiments/run/sensitivity.hpp"

#include <algorithm>

#include "experiments/result/table.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::sensitivity_test {
namespace {

/// 32 MiB, whose time is dominated by their bytes.
input::Json large() {
  input::Json json = testing::good_config();
  json["tensor"] = {{"bytes", "32 MiB"}};
  json["numerics"] = "off";
  return json;
}

const Sensitivity& of(const std::vector<Sensitivity>& all, const std::string& parameter) {
  const auto found = std::ranges::find(all, parameter, &Sensitivity::parameter);
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("the time of a large plain ring depends on bandwidth only") {
  const std::vector<Sensitivity> all = find_sensitivities(testing::run(large()), 2);
  CHECK(of(all, "link_bandwidth").runs[0].time == Approx(-1.0).margin(0.02));
  CHECK(of(all, "link_efficiency").runs[0].time == Approx(-1.0).margin(0.02));
  CHECK(of(all, "step_sync_time").runs[0].time == 0.0);
  CHECK(of(all, "step_sync_time").runs[1].time > 0.01);
  CHECK(of(all, "matrix_efficiency").runs[1].time == 0.0);
  CHECK(of(all, "link_bandwidth").runs[0].speedup == 0.0);  // the baseline
  // d log(speedup) = d log(baseline's time) - d log(time)
  CHECK(of(all, "step_sync_time").runs[1].speedup ==
        Approx(of(all, "step_sync_time").runs[0].time - of(all, "step_sync_time").runs[1].time));
}

TEST_CASE("sensitivities are sorted by size, without counts and zeros") {
  input::Json json = large();
  const std::vector<Sensitivity> all = find_sensitivities(testing::run(json), 1);
  CHECK(all.front().parameter.starts_with("link_"));
  for (const Sensitivity& one : all) {
    CHECK(one.parameter != "dma_queue");
    CHECK(one.value > 0.0);
    CHECK(one.runs.size() == 2);
  }
}

TEST_CASE("the table names the parameters without effect") {
  ExperimentResult result = testing::run(large());
  result.sensitivities = find_sensitivities(result, 2);
  const std::string table = result::to_table(result);
  CHECK_THAT(table, Catch::Contains("grows by 1 %"));
  CHECK_THAT(table, Catch::Contains("No effect: "));
  CHECK_THAT(table, Catch::Contains("matrix_efficiency"));
}

}  // namespace
}  // namespace equarx::run::sensitivity_test
