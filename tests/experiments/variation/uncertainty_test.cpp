#include "experiments/variation/uncertainty.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/experiments/variation/formulas.hpp"

namespace equarx::variation::uncertainty_test {
namespace {

using testing::exact_machine;
using testing::two_runs;

const Progress kSilent = [](const std::string&) {};

TEST_CASE("quantiles are interpolated") {
  const Interval interval = interval_of({3.0, 1.0, 2.0});
  CHECK(interval.low == Approx(1.0 + 2.0 * 0.1586552539314571));
  CHECK(interval.high == Approx(3.0 - 2.0 * 0.1586552539314571));
  CHECK(interval_of({5.0}).low == 5.0);
  CHECK(interval_of({5.0}).high == 5.0);
}

TEST_CASE("parameters of a network are sampled from their range") {
  config::MachineParameters machine = exact_machine();
  machine.network->bandwidth.range = hardware::ParameterRange{8e9, 12e9};
  const auto samples = sample(two_runs(machine), {.samples = 400}, kSilent);
  const std::vector<Uncertainty> all = uncertainties(samples);
  REQUIRE(all.size() == 2);
  CHECK(all[0].samples == 400);
  CHECK(all[0].time_s.low == Approx(10.0 / (8.0 + 0.841 * 4.0)).epsilon(0.02));
  CHECK(all[0].time_s.high == Approx(10.0 / (8.0 + 0.159 * 4.0)).epsilon(0.02));
  CHECK(all[0].speedup.low == 1.0);
  CHECK(all[1].speedup.low < all[1].speedup.high);
}

TEST_CASE("the discrepancy of the model widens times and speedups by lognormal factors") {
  Varied runs = two_runs(exact_machine());
  CHECK(sample(runs, {.samples = 10}, kSilent).empty());
  runs.spreads = {{0.1, 0.0}, {0.1, 0.2}};
  const auto samples = sample(runs, {.samples = 2000}, kSilent);
  const std::vector<Timing> nominal = runs.time_on(runs.machine);
  for (const std::vector<Timing>& timings : samples) {
    CHECK(timings[0].speedup == 1.0);
    CHECK(timings[1].speedup == Approx(timings[0].time_s / timings[1].time_s));
  }
  const std::vector<Uncertainty> all = uncertainties(samples);
  CHECK(all[0].time_s.low == Approx(nominal[0].time_s * std::exp(-0.1)).epsilon(0.01));
  CHECK(all[0].time_s.high == Approx(nominal[0].time_s * std::exp(0.1)).epsilon(0.01));
  CHECK(all[1].speedup.low == Approx(nominal[1].speedup * std::exp(-0.2)).epsilon(0.02));
  CHECK(all[1].speedup.high == Approx(nominal[1].speedup * std::exp(0.2)).epsilon(0.02));
}

TEST_CASE("factors of a sample are lognormal, and depend on seed and number alone") {
  CHECK(time_factor(0.0, 1, 7) == 1.0);
  CHECK(time_factor(0.3, 1, 7) == time_factor(0.3, 1, 7));
  CHECK(time_factor(0.3, 1, 7) != time_factor(0.3, 2, 7));
  CHECK(std::log(time_factor(0.6, 1, 7)) == Approx(2.0 * std::log(time_factor(0.3, 1, 7))));
}

TEST_CASE("a latency is sampled from its standard error, independently of the bandwidth") {
  config::MachineParameters machine = exact_machine();
  machine.network->bandwidth.range = hardware::ParameterRange{8e9, 12e9};
  machine.network->latency.standard_error = 1e-6;
  const MachineSampler sampler(machine);
  double mean_s = 0.0;
  double together = 0.0;
  constexpr int kDraws = 2000;
  for (int number = 0; number < kDraws; ++number) {
    const config::MachineParameters drawn = sampler.draw(1, number);
    const double latency = (drawn.network->latency.value - 10e-6) / 1e-6;
    mean_s += latency / kDraws;
    together += latency * (drawn.network->bandwidth.value - 10e9) / 1.155e9 / kDraws;
    CHECK(drawn.network->latency.value > 0.0);
  }
  CHECK(std::abs(mean_s) < 0.08);
  CHECK(std::abs(together) < 0.08);
}

TEST_CASE("the chip of a sample is the one drawn without a network") {
  config::MachineParameters machine = exact_machine();
  machine.chip = config::load_chip("tpu-v5e", "");
  const hardware::ChipSampler chips(machine.chip);
  for (std::uint64_t number : {0, 1, 7})
    CHECK(MachineSampler(machine).draw(3, number).chip.link_efficiency.value ==
          chips.draw(3, number).link_efficiency.value);
}

TEST_CASE("large runs are sampled less often, unless a number is given") {
  CHECK(with_default_samples({}, 100.0).samples == 200);
  CHECK(with_default_samples({}, 4e5).samples == 50);
  CHECK(with_default_samples({}, 1e9).samples == 20);
  CHECK(with_default_samples({.samples = 1000}, 1e9).samples == 1000);
}

TEST_CASE("samples on which a run fails are left out") {
  config::MachineParameters machine = exact_machine();
  machine.network->latency.standard_error = 1e-6;
  Varied runs = two_runs(machine);
  int calls = 0;
  runs.threads = 1;
  runs.time_on = [&](const config::MachineParameters&) {
    return ++calls % 2 == 0 ? std::vector<Timing>{} : std::vector<Timing>{{1.0, 1.0}};
  };
  CHECK(sample(runs, {.samples = 10}, kSilent).size() == 5);
  CHECK(uncertainties({}).empty());
}

}  // namespace
}  // namespace equarx::variation::uncertainty_test
