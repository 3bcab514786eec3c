#include "experiments/variation/sensitivity.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/experiments/variation/formulas.hpp"

namespace equarx::variation::sensitivity_test {
namespace {

const Sensitivity& of(const std::vector<Sensitivity>& all, const std::string& parameter) {
  const auto found = std::ranges::find(all, parameter, &Sensitivity::parameter);
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("sensitivities are logarithmic derivatives, largest first") {
  config::MachineParameters machine = testing::exact_machine();
  machine.network->bandwidth.range = hardware::ParameterRange{8e9, 12e9};
  const std::vector<Sensitivity> all = sensitivities(testing::two_runs(machine));
  CHECK(all.front().parameter == "network_bandwidth");
  CHECK(all.front().text == "10 GB/s");
  CHECK(all.front().relative_uncertainty == Approx(0.4 / std::sqrt(12.0)));
  CHECK(all.front().runs[0].time == Approx(-1.0));
  // t = 0.25 / b + 0.5 at b = 1: d log t / d log b = -0.25 / 0.75
  CHECK(all.front().runs[1].time == Approx(-1.0 / 3.0).epsilon(1e-4));
  CHECK(all.front().runs[1].speedup == Approx(-2.0 / 3.0).epsilon(1e-4));
  CHECK(of(all, "network_latency").runs[1].time == 0.0);
  CHECK(of(all, "hop_latency").runs[0].time == 0.0);
}

}  // namespace
}  // namespace equarx::variation::sensitivity_test
