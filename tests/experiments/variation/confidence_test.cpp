#include "experiments/variation/confidence.hpp"

#include "experiments/variation/uncertainty.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/variation/formulas.hpp"

namespace equarx::variation::confidence_test {
namespace {

const Progress kSilent = [](const std::string&) {};

TEST_CASE("a verdict is yes only above the whole interval") {
  const auto interval = [](double low, double high) {
    return Uncertainty{.samples = 10, .time_s = {}, .speedup = {low, high}};
  };
  CHECK(verdict_on(1.2, interval(1.1, 1.3)) == Verdict::yes);
  CHECK(verdict_on(1.2, interval(0.9, 1.3)) == Verdict::unclear);
  CHECK(verdict_on(0.8, interval(0.7, 1.1)) == Verdict::unclear);
  CHECK(verdict_on(0.8, interval(0.7, 0.9)) == Verdict::no);
  CHECK(verdict_on(1.2, std::nullopt) == Verdict::yes);
  CHECK(verdict_on(1.0, std::nullopt) == Verdict::no);
}

TEST_CASE("the parameter that widens the interval most is named") {
  config::MachineParameters machine = testing::exact_machine();
  const auto found_in = [](const Varied& runs) {
    return confidence_in(runs, 1, 1.0 / 0.75, sample(runs, {.samples = 50}, kSilent), kSilent);
  };
  CHECK_FALSE(found_in(testing::two_runs(machine)).uncertainty);
  machine.network->bandwidth.range = hardware::ParameterRange{8e9, 20e9};
  machine.chip.hop_latency.range = hardware::ParameterRange{0.0, 1.0};  // without effect
  const Confidence found = found_in(testing::two_runs(machine));
  CHECK(found.widest == "network_bandwidth (10 GB/s)");
  REQUIRE(found.uncertainty);
  CHECK(found.uncertainty->samples == 50);
  CHECK(found.uncertainty->speedup.low < 1.0);
}

}  // namespace
}  // namespace equarx::variation::confidence_test
