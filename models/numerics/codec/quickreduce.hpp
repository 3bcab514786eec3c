// Codecs of QuickReduce, an AllReduce for AMD GPUs that serving engines also embed:
// mk1-project/quickreduce at 910e892, csrc/core/allreduce.h (MIT). Implements BlockCodec for
// formats of ScaleRule::quickreduce.
//
// All arithmetic is in FP16 (rounded to nearest even, with subnormals; a finite result beyond 65504
// becomes 65504, as in the GPU's FP16_OVFL mode); other values are first rounded to FP16. As the
// instructions process pairs, a scale covers the 32 even or the 32 odd elements of a run of 64.
//
// Integers with n = 128, 32 or 8 positive codes, where e is the extremum of a group, i.e. the value
// of largest magnitude (the negative one of two), and epsilon = 2^-24:
//   scale = e (-1/n), so that e itself has code -n;
//   code = rint(clamp(x (1 / (scale + epsilon)), -n, n - 1));  value = code scale.
// E4M3FNUZ: scale = max |x| (1.06640625 2^-8), the FP16 number next to 1/240;
//   code = the nearest to x (1 / (scale + epsilon)).
//
// Consequences, as on the GPU: a group whose extremum is below n / 65504 decodes too small, because
// the reciprocal is limited to 65504; a NaN in integer formats becomes the extremum; a zero group
// may become -0. The reciprocal is assumed to be correctly rounded; the GPU's instruction is
// specified to 0.51 ulp.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"

namespace equarx::numerics::quickreduce {

/// Updates each group's extremum, in FP16, with its values in this piece. `extrema` must start at
/// 0. NaN is ignored unless a group contains nothing else.
void find_extrema(std::span<const float> values, std::size_t first, std::span<float> extrema);

/// Encodes extrema as FP16 scales. `element` is int8, int6, int4 or fp8_e4m3fnuz.
void encode_scales(ElementFormat element, std::span<const float> extrema,
                   std::span<std::byte> bytes);

/// Decodes FP16 scales.
void decode_scales(std::span<const std::byte> bytes, std::span<float> scales);

/// Encodes values; integers are in two's complement. (The GPU adds n, which changes no value.)
void quantize(ElementFormat element, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload);

/// Decodes codes; all values are FP16 numbers.
void dequantize(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values);

/// Computes sums = local + decoded codes, in FP16. `sums` may be `local`, but must not overlap it
/// partially.
void dequantize_add(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                    std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums);

/// Counts the effects of quantize() on the values.
QuantizeCounts count(ElementFormat element, std::span<const float> values, std::size_t first,
                     std::span<const float> scales);

}  // namespace equarx::numerics::quickreduce
