#include "models/numerics/codec/exponents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

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

/// Computes in double, in which no FP32 value is subnormal.
float rounded(float value, std::uint32_t word) {
  constexpr int kMantissaBits = 52;
  constexpr std::int32_t kBias = 1023;
  const double magnitude = std::fabs(double{value});
  if (!(magnitude > 0.0)) return 0.0F;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  const bool up = std::uint64_t{fraction_of(word)} << (kMantissaBits - kRandomBits) < mantissa;
  const std::int32_t exponent =
      kBias - static_cast<std::int32_t>(bits >> kMantissaBits) - (up ? 1 : 0);
  return value_of(make_code(value < 0.0F, std::clamp(exponent, 1, kMostExponent)));
}

/// Calls act(i, random word) for each element.
template <class Act>
void for_each_word(std::size_t elements, const RoundingKey& key, Act act) {
  PhiloxCounter words{};
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t element = key.first_element + i;
    if (i == 0 || element % kElementsPerCounter == 0)
      words = rounding_words(key, element / kElementsPerCounter);
    act(i, words[element % kElementsPerCounter]);
  }
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
  for_each_word(values.size(), key,
                [&](std::size_t i, std::uint32_t word) { values[i] = rounded(values[i], word); });
}

QuantizeCounts add(std::span<const std::byte> terms, std::span<float> sums,
                   const RoundingKey& key) {
  QuantizeCounts counts{.elements = sums.size()};
  for_each_word(sums.size(), key, [&](std::size_t i, std::uint32_t word) {
    const std::uint8_t one = code_of(sums[i]);
    const auto other = static_cast<std::uint8_t>(terms[i]);
    const std::uint8_t sum = sum_of(one, other, word);
    sums[i] = value_of(sum);
    const bool same_sign = is_negative(one) == is_negative(other);
    if (exponent_of(sum) == 0 && same_sign && exponent_of(one) != 0 && exponent_of(other) != 0)
      ++counts.clipped;
  });
  return counts;
}

void store(std::span<const float> values, std::span<std::byte> codes) {
  for (std::size_t i = 0; i < values.size(); ++i)
    codes[i] = static_cast<std::byte>(code_of(values[i]));
}

void load(std::span<const std::byte> codes, std::span<float> values) {
  for (std::size_t i = 0; i < codes.size(); ++i)
    values[i] = value_of(static_cast<std::uint8_t>(codes[i]));
}

}  // namespace equarx::numerics::exponents
