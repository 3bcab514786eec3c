// Closed forms for the error of quantized collectives that only tests use, in addition to
// models/numerics/errors/theory.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>

#include "models/numerics/errors/theory.hpp"

namespace equarx::testing {

/// Like numerics::uniform_quantizer_nmse() for mxint8: the step is 2^floor(log2(amax)) / 64, and
/// the error is uniform for the amax element too:
///   E[4^floor(log2(deviation x amax))] / (12 x 64^2 x deviation^2).
/// It depends on the standard deviation of the values, periodically in its binary logarithm. The
/// few elements that clip, by at most one step, are neglected.
/// Throws std::invalid_argument if elements == 0 or `deviation` is not positive.
inline double mxint8_quantizer_nmse(std::uint64_t elements, double deviation) {
  if (elements == 0)
    throw std::invalid_argument("elements of a scale group is 0: must be at least 1");
  if (!(deviation > 0.0))
    throw std::invalid_argument("standard deviation " + std::to_string(deviation) +
                                ": must be above 0");
  constexpr double kCodesPerUnit = 64.0;
  // Exponents relative to the deviation. The amax hardly ever lies outside 2^-40 to 2^5 times it.
  constexpr int kLowest = -40;
  constexpr int kHighest = 5;
  const auto n = static_cast<double>(elements);
  const auto below = [&](double amax) {  // P(largest magnitude < amax)
    return std::exp(n * std::log1p(-std::erfc(amax / deviation / std::numbers::sqrt2)));
  };
  const int middle = std::ilogb(deviation);
  double squared_scale = 0.0;
  for (int exponent = middle + kLowest; exponent <= middle + kHighest; ++exponent) {
    const double scale = std::ldexp(1.0, exponent);
    squared_scale += scale * scale * (below(2.0 * scale) - below(scale));
  }
  return squared_scale / (12.0 * kCodesPerUnit * kCodesPerUnit * deviation * deviation);
}

/// NMSE of a quantized AllReduce of independent zero-mean ranks of equal power, to first order in
/// c:
///   (1 / ranks) x sum over messages of c x summed, + c if the AllGather is quantized.
/// Each quantization adds c times the power of its message. `edges` is empty if the ReduceScatter
/// is not quantized. Throws std::invalid_argument if ranks == 0.
inline double allreduce_nmse(const numerics::QuantizerNmse& quantizer, std::uint32_t ranks,
                             std::span<const numerics::Edge> edges, bool gather_quantized) {
  if (ranks == 0) throw std::invalid_argument("ranks is 0: must be at least 1");
  double error = 0.0;  // powers in units of one rank's
  for (const numerics::Edge& edge : edges)
    error += edge.count * (quantizer.edge(edge) * edge.summed);
  if (gather_quantized) error += quantizer.gather * ranks;
  return error / ranks;
}

}  // namespace equarx::testing
