// Loops of QuickReduce's formats (codec/quickreduce.hpp), whose scales cover the 32 even or the 32 odd
// elements of a run of 64, compiled for every instruction set and dispatched at run time. All give
// the same bits. Arguments as in kernels.hpp.
#pragma once

#include <cstddef>
#include <span>

#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics::kernels::paired {

/// Raises each group's extremum by values rounded to FP16; `first` as in Piece. Zeros count as the
/// smallest FP32 numbers of their sign, because an extremum of 0 marks an empty group.
void find_extrema(std::size_t first, std::span<const float> values, float* extrema);

/// Encodes extrema as FP16 scales of `element`.
void encode_scales(ElementFormat element, std::span<const float> extrema, std::byte* bytes);
/// Decodes scales.size() scales.
void decode_scales(const std::byte* bytes, std::span<float> scales);

/// Encodes and packs values. Then adds the counts of its effects to `counts`, unless that is null.
void quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts);
/// Unpacks and decodes values.
void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values);
/// Computes sums = local + decoded codes in FP16; `sums` may be `local`. Then raises extrema by the
/// sums, unless they are null.
void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* extrema);
/// Counts the effects of quantize() on the values.
QuantizeCounts count(const Piece& piece, std::span<const float> values);

}  // namespace equarx::numerics::kernels::paired
