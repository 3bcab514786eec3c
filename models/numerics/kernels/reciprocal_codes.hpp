// Loops of ZeRO++'s and SDP4Bit's formats (codec/reciprocal_scale.hpp), compiled for every instruction
// set and dispatched at run time. All give the same bits. Arguments as in kernels.hpp; the rule of
// the format is ScaleRule::zeropp or ScaleRule::sdp4bit.
#pragma once

#include <cstddef>
#include <span>

#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics::kernels::reciprocal {

/// Encodes and packs values. Then adds the counts of its effects to `counts`, unless that is null.
void quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts);
/// Counts the effects of quantize() on the values.
QuantizeCounts count(const Piece& piece, std::span<const float> values);

// The functions below are for ScaleRule::zeropp alone, which computes in FP16.

/// Raises each group's amax by values rounded to FP16. A group of zeros gets the smallest FP32
/// number, because 0 marks an empty group; NaN counts as less than any number.
void find_half_amax(const Piece& piece, std::span<const float> values, float* amax);
/// Unpacks and decodes values.
void dequantize_halves(const Piece& piece, const std::byte* payload, std::span<float> values);
/// Computes sums = local + decoded codes; `sums` may be `local`. Then raises amax by the sums, unless
/// it is null.
void dequantize_add_halves(const Piece& piece, const std::byte* payload, const float* local,
                           std::span<float> sums, float* amax);

}  // namespace equarx::numerics::kernels::reciprocal
