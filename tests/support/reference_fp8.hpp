// FP8 by its values only: lists the value of every code and searches the nearest one.
#pragma once

#include <cmath>
#include <vector>

namespace equarx::testing::fp8 {

/// The non-negative values of an OFP8 format in ascending order, so that even indices are even
/// codes. (OCP 8-bit Floating Point Specification, table 1)
struct Format {
  int mantissa_bits = 3;
  int bias = 7;
  double largest = 448.0;

  std::vector<double> values() const {
    std::vector<double> all;
    const int steps = 1 << mantissa_bits;
    for (int code = 0;; ++code) {
      const int exponent = code / steps;
      const double fraction = static_cast<double>(code % steps) / steps;
      const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                         : std::ldexp(1.0 + fraction, exponent - bias);
      if (value > largest) return all;
      all.push_back(value);
    }
  }
};

inline constexpr Format kE4m3{3, 7, 448.0};
inline constexpr Format kE5m2{2, 15, 57344.0};

/// Returns the nearest value, ties to the even code, saturated like CUDA's conversions; NaN is
/// preserved.
inline double nearest(const std::vector<double>& values, double x) {
  if (std::isnan(x)) return x;
  const double size = std::fabs(x);
  std::size_t best = 0;
  for (std::size_t code = 1; code < values.size(); ++code) {
    const double now = std::fabs(values[code] - size);
    const double before = std::fabs(values[best] - size);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return std::copysign(values[best], x);
}

}  // namespace equarx::testing::fp8
