// The oracle of exp8: codes of a sign and an exponent, one at a time and in double, following
// Global-QSGD's code (sands-lab/global-qsgd, gqsgd_cuda.cu, the exponential_dithering kernels).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "models/numerics/random/rounding_key.hpp"

namespace equarx::testing::exponents {

inline double value_of(int code) {
  const int exponent = code % 128;
  const double magnitude = exponent == 0 ? 0.0 : std::pow(2.0, -exponent);
  return code >= 128 ? -magnitude : magnitude;
}

/// torch.rand's value for 32 random bits.
inline double uniform(std::uint32_t word) { return std::floor(word / 256.0) / 16777216.0; }

inline std::uint32_t word_of(const numerics::RoundingKey& key, std::uint64_t i) {
  const std::uint64_t element = key.first_element + i;
  return numerics::rounding_words(key, element / 4)[element % 4];
}

/// Code of a value already divided by the scale.
inline int encode(float value, std::uint32_t word) {
  if (value == 0.0F) return 0;
  int exponent = 0;
  const auto up = static_cast<float>(std::fabs(std::frexp(value, &exponent)) / 0.5 - 1.0);
  exponent -= uniform(word) >= double{up} ? 1 : 0;
  exponent = std::max(exponent, -127);
  return -exponent + (value < 0.0F ? 128 : 0);
}

inline int sum(int one, int other, std::uint32_t word) {
  const double smallest = std::pow(2.0, -127.0 + 1);
  const int k =
      static_cast<int>(-std::floor(std::log2(smallest + std::max(0.0, uniform(word) - smallest))));
  const int e1 = one % 128;
  const int e2 = other % 128;
  const int s1 = one >= 128 ? -1 : 1;
  const int s2 = other >= 128 ? -1 : 1;
  const int s12 = s1 * s2 * (e1 > 0 ? 1 : 0) * (e2 > 0 ? 1 : 0);
  const int leq = ((e1 <= e2 ? 1 : 0) + (e2 == 0 ? 1 : 0)) * (e1 > 0 ? 1 : 0);
  const int sign = s1 * leq + s2 * (1 - leq);
  const int not_zero = e1 == e2 && s12 == -1 ? 0 : 1;
  const int difference = std::abs(e1 - e2) - (1 - s12) / 2;
  const int e = (e1 * leq + e2 * (1 - leq) - s12 * (k > difference ? 1 : 0)) * not_zero;
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(e) + (sign == -1 ? 128 : 0));
}

/// Codes and their probabilities.
using Codes = std::map<int, double>;

/// Distribution of a value's code, by theory; without random numbers.
inline Codes encodings(float value) {
  if (value == 0.0F) return {{0, 1.0}};
  const int sign = value < 0.0F ? 128 : 0;
  const int above = -std::ilogb(value) - 1;  // exponent of the power of two above
  const double up = std::fabs(double{value}) * std::pow(2.0, above + 1) - 1.0;
  Codes codes;
  codes[sign + std::min(above, 127)] += up;
  codes[sign + std::min(above + 1, 127)] += 1.0 - up;
  return codes;
}

/// Distribution of a sum, by theory: the two adjacent powers of two, with probabilities that
/// preserve the mean.
inline Codes sums(int one, int other) {
  const double exact = value_of(one) + value_of(other);
  if (one % 128 == 0) return {{other, 1.0}};
  if (other % 128 == 0) return {{one, 1.0}};
  if (exact == 0.0) return {{0, 1.0}};
  const double magnitude = std::max(std::fabs(value_of(one)), std::fabs(value_of(other)));
  const bool negative = exact < 0.0;
  const double beside = std::fabs(exact) < magnitude ? magnitude / 2.0 : magnitude * 2.0;
  const double share = (std::fabs(exact) - magnitude) / (beside - magnitude);
  const auto code = [&](double of) { return -std::ilogb(of) + (negative ? 128 : 0); };
  Codes codes;
  codes[code(magnitude)] += 1.0 - share;
  codes[code(beside)] += share;
  return codes;
}

/// The same for two independent random terms.
inline Codes sums(const Codes& ones, const Codes& others) {
  Codes codes;
  for (const auto& [one, p] : ones)
    for (const auto& [other, q] : others)
      for (const auto& [code, share] : sums(one, other)) codes[code] += p * q * share;
  return codes;
}

}  // namespace equarx::testing::exponents
