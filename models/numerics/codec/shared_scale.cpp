#include "models/numerics/codec/shared_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::numerics {
namespace {

float largest(ElementFormat format) {
  switch (format) {
    case ElementFormat::int8: return kInt8LargestCode;
    case ElementFormat::fp8_e4m3: return Fp8E4m3::kMaxFinite;
    case ElementFormat::fp8_e5m2: return Fp8E5m2::kMaxFinite;
    case ElementFormat::exp8: return exponents::kLargest;
    default: throw std::invalid_argument("not a format with a shared scale");
  }
}

float mu_of(const Mu& mu, std::uint32_t ranks) {
  const double n = ranks;
  switch (mu.of) {
    case Mu::Of::root: return static_cast<float>(1.0 / std::sqrt(n));
    case Mu::Of::pre_scaling: return static_cast<float>(1.0 / n);
    case Mu::Of::post_scaling: return 1.0F;
    case Mu::Of::value: return mu.value;
  }
  throw std::logic_error("unknown mu");
}

float fp8lm_factor(const BlockFormat& format, float amax, std::uint32_t ranks) {
  constexpr float kMostExponent = 125.0F;
  float power = 1.0F;
  if (amax > 0.0F && std::isfinite(amax)) {
    const float exponent = std::floor(std::log2(largest(format.element) / amax));
    power = std::exp2(std::min(exponent, kMostExponent));
  }
  return power * mu_of(format.mu, ranks);
}

float global_qsgd_step(ElementFormat element, float amax, std::uint32_t ranks) {
  if (element == ElementFormat::exp8) return amax * (2.0F * static_cast<float>(ranks));
  constexpr float kInterval = 1.0F / kInt8LargestCode;
  return static_cast<float>(ranks) * amax * kInterval;
}

}  // namespace

SharedScale::SharedScale(const BlockFormat& format, float amax, std::uint32_t ranks)
    : format_(format) {
  if (!has_shared_scale(format)) throw std::invalid_argument("not a format with a shared scale");
  if (!(amax >= 0.0F)) throw std::invalid_argument("amax must be a number >= 0");
  if (ranks == 0 || ranks > most_ranks(format))
    throw std::invalid_argument("codes of that many ranks cannot be added");
  if (format.rule == ScaleRule::global_qsgd) {
    step_ = global_qsgd_step(format.element, amax, ranks);
    return;
  }
  factor_ = fp8lm_factor(format, amax, ranks);
  step_ = 1.0F / factor_;
}

float SharedScale::largest_code() const { return largest(format_.element); }

void SharedScale::encode(std::span<float> values, const RoundingKey& key) const {
  if (format_.rule == ScaleRule::global_qsgd) {
    for (float& value : values) value /= step_;
    if (adds_by_code(format_)) return exponents::round(values, key);
    return round_stochastically(format_.element, values, key);
  }
  const float most = largest(format_.element);
  for (float& value : values) {
    value *= factor_;
    // Inf saturates as in CUDA's conversion; NaN passes both comparisons unchanged.
    if (value > most) value = most;
    if (value < -most) value = -most;
  }
  round_to_element(format_.element, values);
}

void SharedScale::decode(std::span<float> values) const {
  // 0 x Inf is NaN, so non-finite values do not vanish.
  for (float& value : values) value *= step_;
}

void store_wrapped(std::span<const float> sums, std::span<std::byte> codes) {
  for (std::size_t i = 0; i < sums.size(); ++i)
    codes[i] = static_cast<std::byte>(static_cast<std::int32_t>(sums[i]));
}

QuantizeCounts count_wrapped(std::span<const float> sums) {
  constexpr float kLowest = std::numeric_limits<std::int8_t>::min();
  constexpr float kHighest = std::numeric_limits<std::int8_t>::max();
  QuantizeCounts counts{.elements = sums.size()};
  for (const float sum : sums)
    if (sum < kLowest || sum > kHighest) ++counts.clipped;
  return counts;
}

}  // namespace equarx::numerics
