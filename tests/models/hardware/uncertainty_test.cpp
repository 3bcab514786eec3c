#include "models/hardware/uncertainty.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::hardware::uncertainty_test {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kSamples = 20'000;

/// Sample mean and standard deviation of many draws of a parameter.
struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

std::vector<double> draws(const Chip& chip, Parameter Chip::*member) {
  const ChipSampler sampler(chip);
  std::vector<double> values;
  for (std::uint64_t number = 0; number < kSamples; ++number)
    values.push_back((sampler.draw(kSeed, number).*member).value);
  return values;
}

Moments moments(const std::vector<double>& values) {
  Moments result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  for (const double value : values)
    result.deviation += (value - result.mean) * (value - result.mean) / count;
  result.deviation = std::sqrt(result.deviation);
  return result;
}

Chip chip_with_errors() {
  Chip chip;
  chip.hop_latency.value = 4e-7;
  chip.hop_latency.standard_error = 1e-8;
  chip.collective_startup.value = 5e-6;
  chip.collective_startup.standard_error = 1e-7;
  chip.dma_overhead.value = 20e-9;
  chip.dma_overhead.range = ParameterRange{10e-9, 40e-9};
  chip.link_efficiency.value = 0.95;
  return chip;
}

TEST_CASE("uncertain parameters have a standard error or a range") {
  CHECK(uncertain_parameters(chip_with_errors()) ==
        std::vector<std::string_view>{"hop_latency", "collective_startup", "dma_overhead"});
  CHECK(uncertain_parameters(Chip{}).empty());
  Chip chip;
  chip.energy_hbm = {.value = 30e-12, .source = {}, .range = ParameterRange{20e-12, 40e-12}};
  CHECK(uncertain_parameters(chip).empty());  // no time depends on it
}

TEST_CASE("draws have the mean and the standard deviation of the chip") {
  const Chip chip = chip_with_errors();
  const Moments hop = moments(draws(chip, &Chip::hop_latency));
  CHECK(hop.mean == Approx(4e-7).epsilon(1e-3));
  CHECK(hop.deviation == Approx(1e-8).epsilon(0.03));
  const Moments dma = moments(draws(chip, &Chip::dma_overhead));
  CHECK(dma.mean == Approx(25e-9).epsilon(0.01));  // mean of the range, not the value
  CHECK(dma.deviation == Approx(30e-9 / std::sqrt(12.0)).epsilon(0.03));
  const Moments exact = moments(draws(chip, &Chip::link_efficiency));
  CHECK(exact.deviation == Approx(0.0).margin(1e-12));
}

TEST_CASE("jointly fitted parameters are drawn with their correlation") {
  Chip chip = chip_with_errors();
  chip.calibration = Calibration{{"hop_latency", "collective_startup"}, {1.0, -0.8, -0.8, 1.0}, {}};
  const std::vector<double> hop = draws(chip, &Chip::hop_latency);
  const std::vector<double> start = draws(chip, &Chip::collective_startup);
  const Moments of_hop = moments(hop);
  const Moments of_start = moments(start);
  double product = 0.0;
  for (std::size_t i = 0; i < hop.size(); ++i)
    product +=
        (hop[i] - of_hop.mean) * (start[i] - of_start.mean) / static_cast<double>(hop.size());
  CHECK(product / (of_hop.deviation * of_start.deviation) == Approx(-0.8).margin(0.01));
  CHECK(of_start.deviation == Approx(1e-7).epsilon(0.03));
}

TEST_CASE("draws are always possible chips") {
  Chip chip;
  chip.hop_latency.value = 1e-8;
  chip.hop_latency.standard_error = 1e-6;
  chip.link_efficiency.value = 0.99;
  chip.link_efficiency.standard_error = 0.2;
  for (const bool together : {false, true}) {
    if (together)
      chip.calibration = Calibration{{"hop_latency", "link_efficiency"}, {1.0, 0.0, 0.0, 1.0}, {}};
    for (const double value : draws(chip, &Chip::hop_latency)) REQUIRE(value >= 0.0);
    for (const double value : draws(chip, &Chip::link_efficiency)) {
      REQUIRE(value > 0.0);
      REQUIRE(value <= 1.0);
    }
  }
}

TEST_CASE("a draw depends only on seed and number") {
  const Chip chip = chip_with_errors();
  const ChipSampler sampler(chip);
  const double first = sampler.draw(1, 3).hop_latency.value;
  CHECK(sampler.draw(1, 4).hop_latency.value != first);
  CHECK(sampler.draw(2, 3).hop_latency.value != first);
  CHECK(ChipSampler(chip).draw(1, 3).hop_latency.value == first);
  // Independent of the standard library.
  CHECK(first / 1e-7 == Approx(4.0325346023405215).epsilon(1e-12));
}

}  // namespace
}  // namespace equarx::hardware::uncertainty_test
