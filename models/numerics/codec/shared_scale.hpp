// A scale shared by the tensors of all ranks, so that codes can be added directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Scale of a format with has_shared_scale(), computed from amax, the largest magnitude in the
/// tensors of all N ranks.
///
/// ScaleRule::fp8lm, in FP32: Azure/MS-AMP (MIT), msamp/common/tensor/meta.py and
/// msamp/nn/distributed.py.
///   e = floor(log2(M / amax)), M the largest finite value of the element;
///   code = FP8(x * f), f = 2^e mu, rounded to nearest even and saturated; value = code * (1 / f).
///   MS-AMP's constant mu is 1 / sqrt(N), so f is a power of two only for some N. MS-AMP's division
///   by N, which turns the sum into a mean, is left to the caller. If amax is 0 or not finite,
///   MS-AMP keeps 2^e of the previous step; without one, it is 1 here, and an Inf saturates as in
///   MS-AMP. In addition, e is limited to 125, so that f and 1 / f are normal numbers.
/// ScaleRule::global_qsgd, in FP32: sands-lab/global-qsgd (MIT), gqsgd/ddphook.py,
/// standard_dithering_hook.
///   s = (N amax) * (1 / 127); code = x / s, rounded stochastically without bias to one of the two
///   neighbouring integers; value = code * s. Sums of codes wrap as 8-bit two's complement: the
///   code 127 / N of every rank may round up, and if all do, for N that does not divide 127, the
///   sum reaches 128 or more. The reference computes a mean, codes times amax / 127: for N a power
///   of two, which its tree requires, the same bits as the sum here over N. An amax of 0 gives
///   codes of 0, where the reference divides by it; a non-finite amax gives NaN everywhere.
///   exp8, exponential_dithering_hook: s = amax (2 N); code = x / s, rounded stochastically to a
///   power of two (exponents.hpp); value = code * s. The reference divides that by N.
class SharedScale {
 public:
  /// @throws std::invalid_argument if the format has no shared scale, amax is negative or NaN, or
  /// `ranks` is 0 or exceeds most_ranks()
  SharedScale(const BlockFormat& format, float amax, std::uint32_t ranks);

  /// Replaces the values of a rank with codes, as floats, in place.
  /// @param key random stream of the stochastic rounding of global_qsgd; unused by fp8lm
  void encode(std::span<float> values, const RoundingKey& key) const;
  /// Replaces codes, or sums of codes, with their values, in place.
  void decode(std::span<float> values) const;

  /// Value of code 1.
  float step() const { return step_; }
  /// Largest code of one rank.
  float largest_code() const;

 private:
  BlockFormat format_;
  float factor_ = 1.0F;  ///< f of fp8lm
  float step_ = 1.0F;
};

/// Stores sums of integer codes as int8, wrapping in two's complement. Both spans have the same
/// length.
void store_wrapped(std::span<const float> sums, std::span<std::byte> codes);

/// Counts the sums that wrap, as clipped.
QuantizeCounts count_wrapped(std::span<const float> sums);

}  // namespace equarx::numerics
