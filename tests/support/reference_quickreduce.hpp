// The oracle of QuickReduce's formats and programs: its codecs and AllReduce, one value at a time,
// following its code (mk1-project/quickreduce, csrc/core/allreduce.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace equarx::testing::quickreduce {

/// Returns the nearest FP16 of an exact result, ties to even; values past the largest saturate to
/// it, except infinities.
inline double half(double exact) {
  if (std::isnan(exact) || std::isinf(exact) || exact == 0.0) return exact;
  const int exponent = std::max(std::ilogb(exact), -14);
  const double step = std::ldexp(1.0, exponent - 10);
  const double rounded = std::nearbyint(exact / step) * step;
  return std::copysign(std::min(std::abs(rounded), 65504.0), exact);
}

/// Codec: integers by the number of their positive codes, 128, 32 or 8; 0 is E4M3FNUZ.
using Levels = int;

/// The non-negative values of E4M3FNUZ, by code.
inline std::vector<double> float8_values() {
  std::vector<double> values;
  for (int code = 0; code < 128; ++code) {
    const int exponent = code >> 3;
    const int mantissa = code & 7;
    values.push_back(exponent == 0 ? std::ldexp(mantissa, -7 - 3)
                                   : std::ldexp(8 + mantissa, exponent - 8 - 3));
  }
  return values;
}

/// Returns the nearest value of E4M3FNUZ, ties to the even code, saturated at the largest.
inline double nearest_float8(double value) {
  static const std::vector<double> values = float8_values();
  if (std::isnan(value) || std::isinf(value)) return std::numeric_limits<double>::quiet_NaN();
  std::size_t best = 0;
  for (std::size_t code = 1; code < values.size(); ++code) {
    const double here = std::abs(std::abs(value) - values[code]);
    const double before = std::abs(std::abs(value) - values[best]);
    if (here < before || (here == before && code % 2 == 0)) best = code;
  }
  return values[best] == 0.0 ? 0.0 : std::copysign(values[best], value);
}

/// A decoded group of values with a common scale.
struct Decoded {
  double scale = 0.0;
  std::vector<double> codes;   ///< the values of the codes
  std::vector<double> values;  ///< codes x scale
};

/// Encodes and decodes a group of FP16 values.
inline Decoded coded(Levels levels, const std::vector<double>& group) {
  double highest = -std::numeric_limits<double>::infinity();
  double lowest = std::numeric_limits<double>::infinity();
  bool negative_zero = false;
  for (const double value : group) {
    if (std::isnan(value)) continue;
    highest = std::max(highest, value);
    lowest = std::min(lowest, value);
    negative_zero = negative_zero || (value == 0.0 && std::signbit(value));
  }
  double extremum = std::abs(highest) > std::abs(lowest) ? highest : lowest;
  // No number among the values.
  if (highest < lowest) extremum = std::numeric_limits<double>::quiet_NaN();
  if (extremum == 0.0) extremum = negative_zero ? -0.0 : 0.0;
  Decoded decoded;
  decoded.scale = levels == 0 ? half(std::abs(extremum) * (1.06640625 / 256))
                              : half(extremum * (-1.0 / levels));
  const double factor = half(1.0 / half(decoded.scale + std::ldexp(1.0, -24)));
  for (const double value : group) {
    const double scaled = half(value * factor);
    double code = 0.0;
    if (levels == 0)
      code = nearest_float8(scaled);
    else if (std::isnan(scaled))
      code = -levels;
    else
      code = std::nearbyint(std::clamp<double>(scaled, -levels, levels - 1)) + 0.0;
    decoded.codes.push_back(code);
    decoded.values.push_back(half(code * decoded.scale));
  }
  return decoded;
}

/// The same for a tensor: in runs of 64 values, the values at even positions form one group and
/// those at odd positions another.
inline std::vector<double> coded_tensor(Levels levels, const std::vector<double>& tensor) {
  constexpr std::size_t kRun = 64;
  std::vector<double> result(tensor.size());
  for (std::size_t run = 0; run < tensor.size(); run += kRun)
    for (std::size_t parity = 0; parity < 2; ++parity) {
      std::vector<double> group;
      const std::size_t end = std::min(tensor.size(), run + kRun);
      for (std::size_t i = run + parity; i < end; i += 2) group.push_back(tensor[i]);
      if (group.empty()) continue;
      const Decoded decoded = coded(levels, group);
      for (std::size_t i = 0; i < group.size(); ++i)
        result[run + parity + 2 * i] = decoded.values[i];
    }
  return result;
}

/// Result on all ranks: every tensor is encoded, summed in FP16 in the order of ranks, and the sum
/// encoded.
inline std::vector<double> all_reduced(Levels levels,
                                       const std::vector<std::vector<double>>& tensors) {
  std::vector<double> sums(tensors.front().size(), 0.0);
  for (const std::vector<double>& tensor : tensors) {
    const std::vector<double> coded = coded_tensor(levels, tensor);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = half(sums[i] + coded[i]);
  }
  return coded_tensor(levels, sums);
}

}  // namespace equarx::testing::quickreduce
