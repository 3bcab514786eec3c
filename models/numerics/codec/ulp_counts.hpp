// Distances between results in units in the last place (ULP) of their type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// Elements by the number of values of the type between two results.
struct UlpCounts {
  /// Classes of distances: 0, 1, 2, 3 to 4, 5 to 8, 9 and more.
  static constexpr std::size_t kClasses = 6;

  std::uint64_t elements = 0;
  std::array<std::uint64_t, kClasses> by_distance{};  ///< finite pairs
  /// Elements where exactly one value is NaN or Inf, or both are, but not alike.
  std::uint64_t nonfinite = 0;
  std::uint64_t most = 0;  ///< largest distance of a finite pair

  /// Elements with other bits; +0 and -0, and NaNs, count as equal.
  std::uint64_t differing() const { return elements - by_distance[0] - equal_nonfinite; }
  /// differing() over all elements; 0 without elements.
  double differing_share() const;
  UlpCounts& operator+=(const UlpCounts& other);

  std::uint64_t equal_nonfinite = 0;  ///< both NaN, or the same Inf
};

/// Counts pairs of values of a tensor type, one of kTensorFormats; values of other types are rounded
/// to it first. Throws std::invalid_argument if the spans differ in length.
UlpCounts ulp_counts(ElementFormat type, std::span<const float> values,
                     std::span<const float> reference);

/// Rounds exact values to a tensor type once, to nearest even: through FP32 with its last bit
/// sticky, so that no second rounding occurs. Finite values beyond the largest become as by
/// round_to_element(). Throws std::invalid_argument if the spans differ in length.
void round_once(ElementFormat type, std::span<const double> exact, std::span<float> rounded);

}  // namespace equarx::numerics
