#include "models/hardware/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace equarx::hardware {

/// Numbers that are the same with every standard library: the engine is standardised, distributions are not.
class ChipSampler::Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : engine_(seed ^ (number * kGolden)) {}

  /// In (0, 1).
  double uniform() {
    constexpr double kStep = 0x1p-53;
    return (static_cast<double>(engine_() >> 11) + 0.5) * kStep;
  }
  /// Of mean 0 and variance 1 (Box and Muller, 1958).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  /// 2^64 / golden ratio: neighbouring numbers become seeds that differ in half of their bits.
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

  std::mt19937_64 engine_;
};

namespace {

bool is_possible(const ParameterInfo& info, double value) {
  if (info.kind == ParameterKind::ratio && value > 1.0) return false;
  return info.may_be_zero ? value >= 0.0 : value > 0.0;
}

/// What is nearest to `value` and possible.
double nearest_possible(const ParameterInfo& info, double value, double known) {
  if (is_possible(info, value)) return value;
  if (value > 1.0) return 1.0;  // a ratio
  return info.may_be_zero ? 0.0 : known;
}

/// Chips that are drawn until one is possible.
constexpr int kMostDraws = 1000;

}  // namespace

std::vector<std::string_view> uncertain_parameters(const Chip& chip) {
  std::vector<std::string_view> keys;
  for (const ParameterInfo& info : parameters())
    if (info.kind != ParameterKind::count && standard_uncertainty(chip.*info.member))
      keys.push_back(info.key);
  return keys;
}

ChipSampler::ChipSampler(const Chip& chip) : chip_(chip) {
  const auto drawn = [&](const ParameterInfo& info) {
    return Drawn{info.member, &info, standard_uncertainty(chip.*info.member).value()};
  };
  std::vector<std::string> calibrated;
  if (chip.calibration) {
    calibrated = chip.calibration->parameters;
    for (const std::string& key : calibrated) together_.push_back(drawn(*find_parameter(key)));
    factor_ = correlation_factor(chip.calibration->correlation, calibrated.size());
  }
  for (const std::string_view key : uncertain_parameters(chip))
    if (std::ranges::find(calibrated, key) == calibrated.end())
      on_its_own_.push_back(drawn(*find_parameter(key)));
}

bool ChipSampler::draw_together(Random& random, Chip& chip) const {
  const std::size_t count = together_.size();
  std::vector<double> normal(count);
  std::ranges::generate(normal, [&] { return random.normal(); });
  bool possible = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Drawn& one = together_[i];
    double deviations = 0.0;
    for (std::size_t j = 0; j <= i; ++j) deviations += factor_[i * count + j] * normal[j];
    const double known = (chip_.*one.member).value;
    const double value = known + one.deviation * deviations;
    possible = possible && is_possible(*one.info, value);
    (chip.*one.member).value = nearest_possible(*one.info, value, known);
  }
  return possible;
}

bool ChipSampler::draw_alone(const Drawn& one, Random& random, Chip& chip) const {
  const Parameter& known = chip_.*one.member;
  const double value =
      known.standard_error
          ? known.value + *known.standard_error * random.normal()
          : known.range->low + (known.range->high - known.range->low) * random.uniform();
  (chip.*one.member).value = nearest_possible(*one.info, value, known.value);
  return is_possible(*one.info, value);
}

Chip ChipSampler::draw(std::uint64_t seed, std::uint64_t number) const {
  Random random(seed, number);
  Chip chip = chip_;
  for (int draws = 0; draws < kMostDraws && !draw_together(random, chip); ++draws) {
  }
  for (const Drawn& one : on_its_own_)
    for (int draws = 0; draws < kMostDraws && !draw_alone(one, random, chip); ++draws) {
    }
  return chip;
}

}  // namespace equarx::hardware
