#include "models/hardware/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace equarx::hardware {

/// Random numbers that do not depend on the standard library: its engines are standardised, its
/// distributions are not.
class ChipSampler::Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : engine_(seed ^ (number * kGolden)) {}

  /// Uniform in (0, 1).
  double uniform() {
    constexpr double kStep = 0x1p-53;
    return (static_cast<double>(engine_() >> 11) + 0.5) * kStep;
  }
  /// Standard normal (Box and Muller, 1958).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  /// 2^64 / golden ratio: maps neighbouring numbers to seeds that differ in half of their bits.
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

  std::mt19937_64 engine_;
};

namespace {

bool is_possible(const ParameterInfo& info, double value) {
  if (info.kind == ParameterKind::ratio && value > 1.0) return false;
  return info.may_be_zero ? value >= 0.0 : value > 0.0;
}

/// Clamps `value` to the possible range.
double nearest_possible(const ParameterInfo& info, double value, double nominal) {
  if (is_possible(info, value)) return value;
  if (value > 1.0) return 1.0;  // a ratio
  return info.may_be_zero ? 0.0 : nominal;
}

/// Redraws before an impossible value is clamped.
constexpr int kMaxDraws = 1000;

/// Draws once; may be impossible. `Random` is ChipSampler::Random.
template <class Random>
double draw_once(const Parameter& nominal, Random& random) {
  if (nominal.standard_error) return nominal.value + *nominal.standard_error * random.normal();
  return nominal.range->low + (nominal.range->high - nominal.range->low) * random.uniform();
}

}  // namespace

std::vector<std::string_view> uncertain_parameters(const Chip& chip) {
  std::vector<std::string_view> keys;
  for (const ParameterInfo& info : parameters())
    if (info.affects_times && info.kind != ParameterKind::count &&
        standard_uncertainty(chip.*info.member))
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
    for (const std::string& key : calibrated) correlated_.push_back(drawn(*find_parameter(key)));
    factor_ = correlation_factor(chip.calibration->correlation, calibrated.size());
  }
  for (const std::string_view key : uncertain_parameters(chip))
    if (std::ranges::find(calibrated, key) == calibrated.end())
      independent_.push_back(drawn(*find_parameter(key)));
}

bool ChipSampler::draw_correlated(Random& random, Chip& chip) const {
  const std::size_t count = correlated_.size();
  std::vector<double> normal(count);
  std::ranges::generate(normal, [&] { return random.normal(); });
  bool possible = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Drawn& parameter = correlated_[i];
    double deviations = 0.0;
    for (std::size_t j = 0; j <= i; ++j) deviations += factor_[i * count + j] * normal[j];
    const double nominal = (chip_.*parameter.member).value;
    const double value = nominal + parameter.deviation * deviations;
    possible = possible && is_possible(*parameter.info, value);
    (chip.*parameter.member).value = nearest_possible(*parameter.info, value, nominal);
  }
  return possible;
}

bool ChipSampler::draw_independent(const Drawn& parameter, Random& random, Chip& chip) const {
  const Parameter& nominal = chip_.*parameter.member;
  const double value = draw_once(nominal, random);
  (chip.*parameter.member).value = nearest_possible(*parameter.info, value, nominal.value);
  return is_possible(*parameter.info, value);
}

Chip ChipSampler::draw(std::uint64_t seed, std::uint64_t number) const {
  Random random(seed, number);
  Chip chip = chip_;
  for (int draws = 0; draws < kMaxDraws && !draw_correlated(random, chip); ++draws) {
  }
  for (const Drawn& parameter : independent_)
    for (int draws = 0; draws < kMaxDraws && !draw_independent(parameter, random, chip); ++draws) {
    }
  return chip;
}

namespace {

constexpr std::uint64_t kStreams = 0xD1B54A32D192ED03;  // odd: distinct seeds for all streams

}  // namespace

double standard_normal(std::uint64_t seed, std::uint64_t number, std::uint64_t stream) {
  return ChipSampler::Random(seed + stream * kStreams, number).normal();
}

double draw_value(const ParameterInfo& info, const Parameter& parameter, std::uint64_t seed,
                  std::uint64_t number, std::uint64_t stream) {
  if (!standard_uncertainty(parameter)) return parameter.value;
  ChipSampler::Random random(seed + stream * kStreams, number);
  double value = draw_once(parameter, random);
  for (int draws = 1; draws < kMaxDraws && !is_possible(info, value); ++draws)
    value = draw_once(parameter, random);
  return nearest_possible(info, value, parameter.value);
}

}  // namespace equarx::hardware
