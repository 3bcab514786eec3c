#include "experiments/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/calibrate/report.hpp"
#include "experiments/calibrate/simulated_rows.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/calibrate/example.hpp"
#include "tests/support/errors.hpp"

namespace equarx::calibrate::calibrate_test {
namespace {

using testing::check_refused;

const auto kSilent = [](const std::string&) {};

/// True values of the made-up chip, in the order of "fit" in example().
const Point kTruth = {3e-6, 0.6e-6, 0.91};

/// The example's measurements, simulated with the truth and with noise of their standard errors.
CalibrationTask noisy_task(unsigned seed, double noise) {
  CalibrationTask task = read_task(example(), "");
  std::vector<std::size_t> rows(task.measurements.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const Outputs truth =
      simulated_rows(task, rows, VariedChip{task.chip, task.fit})({kTruth}).front();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows.size(); ++i)
    task.measurements[i].measured =
        truth[i] + noise * task.measurements[i].standard_error * normal(random);
  return task;
}

TEST_CASE("parameters are recovered from measurements without noise") {
  const CalibrationTask task = noisy_task(1, 0.0);
  const CalibrationResult result = calibrate(task, kSilent);
  CHECK(result.converged);
  CHECK(result.chi_squared < 1e-6);
  for (std::size_t i = 0; i < kTruth.size(); ++i)
    CHECK(result.parameters[i].value == Approx(kTruth[i]).epsilon(1e-4));
}

TEST_CASE("parameters are recovered from noisy measurements within their standard errors",
          "[long]") {
  // 2 standard errors cover 95.4 % of a normal distribution: at least 52 of 60 with probability
  // 0.999.
  int within = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CalibrationTask task = noisy_task(seed, 1.0);
    task.given.clear();  // given values are exact here
    const CalibrationResult result = calibrate(task, kSilent);
    for (std::size_t i = 0; i < kTruth.size(); ++i)
      within += std::abs(result.parameters[i].value - kTruth[i]) <=
                2.0 * *result.parameters[i].standard_error;
  }
  CHECK(within >= 52);
  CHECK(within < 60);  // overestimated standard errors would cover all
}

TEST_CASE("the uncertainty of given parameters propagates as refits with other given values do") {
  CalibrationTask task = noisy_task(1, 0.0);
  task.given = {hardware::find_parameter("dma_overhead")};
  // Times have kinks where the bottleneck changes; they are linear within this small range.
  task.chip.dma_overhead.range = {.low = 19.5e-9, .high = 20.5e-9};
  for (Measurement& measurement : task.measurements) measurement.standard_error *= 0.05;
  const CalibrationResult result = calibrate(task, kSilent);
  task.given.clear();
  const CalibrationResult alone = calibrate(task, kSilent);
  const double deviation = *standard_uncertainty(task.chip.dma_overhead);
  task.chip.dma_overhead.value += deviation;
  const CalibrationResult above = calibrate(task, kSilent);
  task.chip.dma_overhead.value -= 2.0 * deviation;
  const CalibrationResult below = calibrate(task, kSilent);
  const std::size_t n = kTruth.size() + 1;
  REQUIRE(result.correlated.size() == n);
  for (std::size_t i = 0; i < kTruth.size(); ++i) {
    const double moved = (above.parameters[i].value - below.parameters[i].value) / 2.0;
    const double error = *result.parameters[i].standard_error;
    CHECK(error == Approx(std::hypot(*alone.parameters[i].standard_error, moved)).epsilon(0.02));
    CHECK(result.correlation[i * n + n - 1] == Approx(moved / error).margin(0.02));
  }
}

TEST_CASE("a parameter whose optimum is negative is fixed at 0") {
  CalibrationTask task = noisy_task(1, 0.0);
  // No startup, and small messages faster than the hops alone.
  for (Measurement& measurement : task.measurements)
    measurement.measured -= std::min(4.5e-6, 0.45 * measurement.measured);
  const CalibrationResult result = calibrate(task, kSilent);
  CHECK(result.parameters[0].value == 0.0);
  CHECK(result.parameters[0].at_limit());
  CHECK_FALSE(result.parameters[1].at_limit());
  CHECK_THAT(to_table(task, result), ContainsSubstring("at limit"));
  const hardware::Chip chip = calibrated_chip(task, result);
  CHECK(chip.collective_startup.range);
  CHECK_NOTHROW(config::read_chip(config::to_json(chip)));
}

/// Task with only the 8 B AllReduces on these slices, without link_efficiency.
CalibrationTask small_messages(const std::vector<std::string>& whats) {
  CalibrationTask task = noisy_task(1, 0.0);
  task.fit.pop_back();
  task.given.clear();
  std::vector<Measurement> kept;
  for (const std::string& what : whats)
    kept.push_back(
        *std::ranges::find(task.measurements, "AllReduce of 8 B, " + what, &Measurement::what));
  task.measurements = kept;
  return task;
}

TEST_CASE("with every parameter at its limit, the chip has no correlations") {
  CalibrationTask task = small_messages({"2x4"});
  task.fit.resize(1);
  task.measurements.front().measured = 1e-7;  // less than the time without startup
  const CalibrationResult result = calibrate(task, kSilent);
  CHECK(result.parameters[0].at_limit());
  CHECK(result.correlated.empty());
  CHECK_THAT(to_table(task, result), ContainsSubstring("at limit"));
  const hardware::Chip chip = calibrated_chip(task, result);
  CHECK_NOTHROW(config::read_chip(config::to_json(chip)));
}

TEST_CASE("parameters that no measurement separates are named") {
  check_refused(
      [&] {
        calibrate(small_messages({"2x4", "2x4"}), kSilent);
      },
      "/fit", "collective_startup up by");
}

TEST_CASE("weakly identified parameters are reported with an unnoticeable combination") {
  CalibrationTask task = small_messages({"2x4", "2x4", "2x2"});
  task.measurements[2].standard_error *= 100.0;
  const CalibrationResult result = calibrate(task, kSilent);
  REQUIRE(result.weak.size() == 1);
  const std::vector<ParameterChange>& changes = result.weak[0].changes;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].by * changes[1].by < 0.0);
  CHECK_THAT(to_table(task, result),
             ContainsSubstring("weakly identified") && ContainsSubstring("hop_latency down by"));
  const Model model = simulated_rows(task, {0, 1, 2}, {task.chip, task.fit});
  Point point = {result.parameters[0].value, result.parameters[1].value};
  const Outputs before = model({point}).front();
  for (std::size_t i = 0; i < 2; ++i) point[i] += changes[i].by;
  const Outputs after = model({point}).front();
  double most = 0.0;
  for (std::size_t i = 0; i < 3; ++i)
    most = std::max(most, std::abs(after[i] - before[i]) / task.measurements[i].standard_error);
  CHECK(most <= 1.1 * kUnnoticed);
}

TEST_CASE("a parameter without influence on the measurements is rejected") {
  input::Json json = example();
  json["fit"][0] = "matrix_efficiency";
  check_refused([&] { calibrate(read_task(json, ""), kSilent); }, "/fit/0",
                "no measurement to fit depends on matrix_efficiency");
}

TEST_CASE("a fit that does not explain its measurements gives a warning") {
  CalibrationTask task = noisy_task(1, 1.0);
  task.measurements[2].measured += 30.0 * task.measurements[2].standard_error;
  const CalibrationResult result = calibrate(task, kSilent);
  CHECK(result.probability < kHopelessProbability);
  CHECK_THAT(to_table(task, result), ContainsSubstring("does not explain"));
}

TEST_CASE("the calibrated chip is a valid hardware file with its sources") {
  const CalibrationTask task = noisy_task(3, 1.0);
  const CalibrationResult result = calibrate(task, kSilent);
  const hardware::Chip chip = calibrated_chip(task, result);
  const input::Json json = config::to_json(chip);
  CHECK_NOTHROW(input::check_schema(json, "hardware"));
  const hardware::Chip again = config::read_chip(json);
  CHECK(again.name == "made-up-chip");
  CHECK(again.hop_latency.provenance == hardware::Provenance::calibrated);
  CHECK(again.hop_latency.value == Approx(result.parameters[1].value).epsilon(1e-3));
  CHECK(*again.hop_latency.standard_error ==
        Approx(*result.parameters[1].standard_error).epsilon(0.01));
  CHECK_THAT(again.hop_latency.source, ContainsSubstring(task.measurements[0].what));
  REQUIRE(again.calibration);
  CHECK(again.calibration->parameters.size() == 6);
  CHECK(again.calibration->observations.size() == task.measurements.size());
  CHECK(to_json(task, result)["parameters"]["hop_latency"]["at_limit"] == false);
}

TEST_CASE("values are rounded far below their standard error") {
  const hardware::ParameterInfo& latency = *hardware::find_parameter("hop_latency");
  CHECK(rounded(latency, 359.123456e-9, 16e-9) == Approx(359.12e-9).epsilon(1e-12));
  CHECK(rounded(latency, 0.0, 16e-9) == 0.0);
  CHECK(rounded(*hardware::find_parameter("link_efficiency"), 0.91234567, 0.01) == 0.91235);
}

}  // namespace
}  // namespace equarx::calibrate::calibrate_test
