// Roundings between the inputs of a collective and its result, from its program alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::values {

/// Consecutive roundings of one kind on a path from an input to the result.
struct Roundings {
  enum class Kind : std::uint8_t {
    addition,    ///< to the accumulator's type
    conversion,  ///< to a tensor's or wire type without scales that cannot hold the value
    encoding,    ///< to codes with scales
  };
  Kind kind = Kind::addition;
  numerics::BlockFormat format;  ///< with its scales, if any
  std::uint32_t count = 0;

  bool operator==(const Roundings&) const = default;
};

/// The path with the most roundings, and the expected effect of all roundings.
struct RoundingPath {
  std::uint32_t additions = 0;    ///< on that path, in any type
  std::uint32_t conversions = 0;  ///< to types without scales, narrower than the value
  std::uint32_t encodings = 0;    ///< to codes with scales
  std::vector<Roundings> steps;   ///< from the input to the result
  /// All additions on all paths are in FP32, and no sum of some ranks' terms is rounded or encoded.
  bool sums_in_fp32 = true;
  /// Expected squared error over the squared result, for independent terms of equal power, to first
  /// order: every rounding of a sum of k terms adds k times its own NMSE. NaN without a theory for
  /// one of the formats.
  double expected_nmse = 0.0;
};

/// Squared error of one rounding over the power of its operand, a sum of `terms`; NaN if unknown.
/// `elements`: of the minishard that is encoded in a format with scales; 0 for a format without.
using RoundingNmse = std::function<double(const numerics::BlockFormat& format,
                                          std::uint64_t elements, std::uint32_t terms)>;

/// Follows every input through the program, for the first unit of each segment; all units of a
/// segment are alike. Time and memory are proportional to the instructions of a unit times the
/// ranks.
RoundingPath rounding_path(const collectives::Program& program, const RoundingNmse& nmse);

/// Squared error of rounding normal values to a floating-point type without scales to nearest, over
/// their power, without overflow and subnormals: E[ulp(x)^2] / (12 E[x^2]), by summation over the
/// binades of a normal distribution of this variance, whose place between two powers of four
/// matters. NaN for types that are not floating point.
double conversion_nmse(numerics::ElementFormat type, double variance = 1.0);

}  // namespace equarx::values
