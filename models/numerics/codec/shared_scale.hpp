// One scale that the tensors of all ranks have in common, so that codes can be added without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// The scale of a format with has_shared_scale(), from amax, the largest magnitude in the tensors of all N ranks.
///
/// ScaleRule::fp8lm: Azure/MS-AMP (MIT), msamp/common/tensor/meta.py and msamp/nn/distributed.py, in FP32.
///   e = floor(log2(M / amax)), M the largest finite value of the element;
///   code = FP8(x * f), f = 2^e mu, rounded to nearest even and saturated; value = code * (1 / f).
///   MS-AMP's constant mu is 1 / sqrt(N), so f is a power of two for some N only. Its division by N, which makes a mean
///   of the sum, is left to whoever wants one. If amax is 0 or not finite, 2^e is that of the step before; here there is
///   none, and it is 1: an Inf then saturates, as there. Beyond what its text says: e is at most 125, so that f and 1 / f
///   are normal numbers.
/// ScaleRule::global_qsgd: sands-lab/global-qsgd (MIT), gqsgd/ddphook.py, standard_dithering_hook, in FP32.
///   s = (N amax) * (1 / 127); code = x / s, rounded stochastically to one of the two integers beside it, without bias;
///   value = code * s. Sums of codes wrap as two's complement of 8 bits: code 127 / N of every rank may round up, and
///   where all do, for N that does not divide 127, the sum is 128 or more. Theirs is a mean, of codes times amax / 127:
///   for N a power of two, which their tree needs, the same bits as the sum here over N. An amax of 0 gives codes of 0,
///   where theirs divides by it; one that is not finite gives NaN everywhere.
///   Of exp8, exponential_dithering_hook: s = amax (2 N); code = x / s, rounded stochastically to a power of two
///   (exponents.hpp); value = code * s. Theirs divides that by N.
class SharedScale {
 public:
  /// @throws std::invalid_argument if the format has no shared scale; if amax is negative or NaN; for no ranks, or more
  /// than most_ranks()
  SharedScale(const BlockFormat& format, float amax, std::uint32_t ranks);

  /// What one rank has, in place: values that are codes.
  /// @param key of global_qsgd, whose rounding is stochastic
  void encode(std::span<float> values, const RoundingKey& key) const;
  /// Codes, or sums of them, to what they count for, in place.
  void decode(std::span<float> values) const;

  /// Of code 1.
  float step() const { return step_; }
  /// Of what is sent.
  float largest_code() const;

 private:
  BlockFormat format_;
  float factor_ = 1.0F;  ///< of fp8lm, on values
  float step_ = 1.0F;
};

/// Sums of integer codes as int8 holds them: beyond it they wrap, as two's complement does. `codes` is as long.
void store_wrapped(std::span<const float> sums, std::span<std::byte> codes);

/// How many of them wrap, counted as clipped.
QuantizeCounts count_wrapped(std::span<const float> sums);

}  // namespace equarx::numerics
