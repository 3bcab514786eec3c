// The codecs of QuickReduce, an AllReduce of AMD GPUs: mk1-project/quickreduce at 910e892, csrc/core/allreduce.h
// (MIT), which serving engines have in them, too. What BlockCodec does for formats of ScaleRule::quickreduce.
//
// All arithmetic is in FP16 (rounded to nearest even, with subnormals; a finite result beyond 65504 becomes 65504, as
// the mode FP16_OVFL of the GPU has it), and so are the values: others are rounded to FP16 first. The instructions take
// values in pairs, so a scale is that of 32 values of even place, or of odd, in a run of 64.
//
// Integers of n = 128, 32 or 8 positive codes, with e the extremum of a group, that is the value of the largest
// magnitude (of two the negative one), and an epsilon of 2^-24:
//   scale = e (-1/n), so that e itself has the code -n;
//   code = rint(clamp(x (1 / (scale + epsilon)), -n, n - 1));  value = code scale.
// E4M3FNUZ: scale = max |x| (1.06640625 2^-8), which is 1/240 in FP16; code = the nearest of x (1 / (scale + epsilon)).
//
// What follows, and is so on the GPU: a group whose extremum is below n / 65504 comes out too small, because the
// reciprocal ends at 65504; NaN of integers becomes the extremum; a group of zeros may become -0. The reciprocal is
// taken to be rounded correctly; the GPU's instruction is specified to half a unit in the last place and a hundredth.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"

namespace equarx::numerics::quickreduce {

/// Raises each group's extremum, in FP16, by those of its values in this piece. Starts from zeros. NaN does not count,
/// unless there is nothing else.
void find_extrema(std::span<const float> values, std::size_t first, std::span<float> extrema);

/// Extrema into FP16 scales. `element` is int8, int6, int4 or fp8_e4m3fnuz.
void encode_scales(ElementFormat element, std::span<const float> extrema,
                   std::span<std::byte> bytes);

/// The scales of these bytes.
void decode_scales(std::span<const std::byte> bytes, std::span<float> scales);

/// Values into codes, integers in two's complement. (On the GPU n is added, which changes no value.)
void quantize(ElementFormat element, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload);

/// Codes into values, all of FP16.
void dequantize(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values);

/// sums = local + decoded codes, in FP16. `sums` is `local` or does not overlap it.
void dequantize_add(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                    std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums);

/// What quantize() does to the values.
QuantizeCounts count(ElementFormat element, std::span<const float> values, std::size_t first,
                     std::span<const float> scales);

}  // namespace equarx::numerics::quickreduce
