#include "experiments/variation/turning_points.hpp"

#include "experiments/variation/sensitivity.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/variation/formulas.hpp"

namespace equarx::variation::turning_points_test {
namespace {

TEST_CASE("at a turning point both runs take the same time") {
  const Varied runs = testing::two_runs(testing::exact_machine());
  const auto points = find_turning_points(runs, sensitivities(runs), 1, 1.0 / 0.75);
  REQUIRE(points.size() == 1);
  CHECK(points.front().parameter == "network_bandwidth");
  // 1 / b = 0.25 / b + 0.5 at b = 1.5
  CHECK(points.front().turns_at == Approx(15e9).epsilon(0.003));
  CHECK_THAT(points.front().text, Catch::StartsWith("10 GB/s; break-even at 1"));
}

TEST_CASE("no parameter reverses a comparison that depends on none") {
  Varied runs = testing::two_runs(testing::exact_machine());
  runs.time_on = [](const config::MachineParameters&) {
    return std::vector<Timing>{{1.0, 1.0}, {0.5, 2.0}};
  };
  CHECK(find_turning_points(runs, sensitivities(runs), 1, 2.0).empty());
}

}  // namespace
}  // namespace equarx::variation::turning_points_test
