// Counts of elements that a quantization could not represent.
#pragma once

#include <cstdint>

namespace equarx::numerics {

/// Effects of quantization on the elements of a span.
struct QuantizeCounts {
  std::uint64_t elements = 0;
  std::uint64_t clipped = 0;     ///< finite, but beyond the largest code even after rounding
  std::uint64_t flushed = 0;     ///< nonzero, but decoded as zero
  std::uint64_t non_finite = 0;  ///< decoded as NaN or Inf; without scales, also NaN or Inf inputs

  QuantizeCounts& operator+=(const QuantizeCounts& other) {
    elements += other.elements;
    clipped += other.clipped;
    flushed += other.flushed;
    non_finite += other.non_finite;
    return *this;
  }
  bool operator==(const QuantizeCounts&) const = default;
};

}  // namespace equarx::numerics
