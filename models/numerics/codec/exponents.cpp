#include "models/numerics/codec/exponents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "models/numerics/kernels/exponent_codes.hpp"

namespace equarx::numerics::exponents {
namespace {

constexpr std::int32_t kSign = 128;
constexpr std::int32_t kMostExponent = 127;  ///< exponent of the smallest magnitude
constexpr int kRandomBits = 24;

std::uint8_t make_code(bool negative, std::int32_t exponent) {
  return static_cast<std::uint8_t>(exponent + (negative ? kSign : 0));
}

bool is_negative(std::uint8_t code) { return code >= kSign; }
std::int32_t exponent_of(std::uint8_t code) { return code % kSign; }

std::uint32_t fraction_of(std::uint32_t word) { return word >> (32 - kRandomBits); }

/// Returns -floor(log2 u) of the random number u; 126 for 0, as the reference code adds 2^-126.
std::int32_t doublings_of(std::uint32_t word) {
  constexpr std::int32_t kOfZero = 126;
  const std::uint32_t fraction = fraction_of(word);
  return fraction == 0 ? kOfZero : kRandomBits + 1 - std::bit_width(fraction);
}

}  // namespace

float value_of(std::uint8_t code) {
  constexpr int kMantissaBits = 23;
  constexpr std::uint32_t kSubnormal = 0x00400000U;  // 2^-127
  constexpr int kSignShift = 24;
  const std::int32_t exponent = exponent_of(code);
  const std::uint32_t magnitude = exponent == 0 ? 0U
                                  : exponent == kMostExponent
                                      ? kSubnormal
                                      : static_cast<std::uint32_t>(kMostExponent - exponent)
                                            << kMantissaBits;
  return std::bit_cast<float>(magnitude | (code & 128U) << kSignShift);
}

std::uint8_t code_of(float value) {
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(double{value});
  if (!(magnitude >= 0x1p-127 && magnitude < 1.0)) return make_code(negative, 0);
  constexpr int kMantissaBits = 52;
  constexpr std::uint64_t kBias = 1023;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(magnitude) >> kMantissaBits;
  return make_code(negative, static_cast<std::int32_t>(kBias - exponent));
}

std::uint8_t sum_of(std::uint8_t one, std::uint8_t other, std::uint32_t word) {
  const std::int32_t one_exponent = exponent_of(one);
  const std::int32_t other_exponent = exponent_of(other);
  if (one_exponent == 0) return other;
  if (other_exponent == 0) return one;
  const bool opposite = is_negative(one) != is_negative(other);
  const bool one_is_larger = one_exponent <= other_exponent;
  const bool negative = is_negative(one_is_larger ? one : other);
  if (opposite && one_exponent == other_exponent) return make_code(negative, 0);
  const std::int32_t distance = std::abs(one_exponent - other_exponent) - (opposite ? 1 : 0);
  const std::int32_t step = doublings_of(word) > distance ? 1 : 0;
  return make_code(negative, std::min(one_exponent, other_exponent) + (opposite ? step : -step));
}

void round(std::span<float> values, const RoundingKey& key) {
  kernels::exponents::round(values, key);
}

QuantizeCounts add(std::span<const std::byte> terms, std::span<float> sums,
                   const RoundingKey& key) {
  const std::uint64_t doubled = kernels::exponents::add(terms.data(), sums, key);
  return {.elements = sums.size(), .clipped = doubled};
}

void store(std::span<const float> values, std::span<std::byte> codes) {
  kernels::exponents::store(values, codes.data());
}

void load(std::span<const std::byte> codes, std::span<float> values) {
  kernels::exponents::load(codes.data(), values);
}

}  // namespace equarx::numerics::exponents
