// Codecs of ZeRO++ and SDP4Bit: values are multiplied by a factor whose reciprocal is sent as the
// scale. Implements BlockCodec for formats of ScaleRule::zeropp and ScaleRule::sdp4bit.
//
// With M the amax of a group and all two's complement codes, including the lowest:
//   factor = M == 0 ? 1 : n / M;  scale = 1 / factor, in FP32;
//   code = clamp(round(x factor));  value = code scale.
//
// ZeRO++: deepspeedai/DeepSpeed (Apache-2.0) at edaa722, csrc/includes/quantization_utils.h,
// Params<Symmetric>. n is 128 or 8, so that M exceeds the largest code by one step, while -M does
// not. Rounds to nearest, ties to even. Values are FP16: inputs, decoded values and sums are
// rounded to it. A NaN does not contribute to M and becomes 0, so it vanishes; a group of NaNs
// only, or with an Inf, decodes to NaN. DeepSpeed uses fast division with an error of about 2 ulp;
// divisions here are IEEE.
//
// SDP4Bit: jindajia/SDP4Bit (Apache-2.0) at ed75187,
// code/tools/jet_quant_cuda/includes/quantization_utils.h. n is 127 or 7, all in FP32. Rounds
// stochastically: up with probability x factor - floor(x factor). Its random bits come from a
// clock; here from a RoundingKey, in units of 2^-24. Codes use the reciprocal of the transmitted
// scale, which equals the factor up to its last place, and is less precise if the scale is
// subnormal, for M below n 2^-126. Below n 2^-128 the factor is infinite and the whole group
// becomes 0, as in the reference. A group with a NaN or an Inf decodes to NaN.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::reciprocal_scale {

/// True if the format uses one of these rules.
bool has_rule(const BlockFormat& format);

/// @throws std::invalid_argument for a format of these rules that is not int8 or int4 in contiguous
/// groups with FP32 scales, or rounds differently
void check(const BlockFormat& format);

/// Raises each group's amax by its values in this piece. `amax` must start at 0. For ZeRO++, in
/// FP16, and at least the smallest FP32 number once any number was seen.
void find_amax(const BlockFormat& format, std::span<const float> values, std::size_t first,
               std::span<float> amax);

/// Encodes amax as FP32 scales.
void encode_scales(const BlockFormat& format, std::span<const float> amax,
                   std::span<std::byte> bytes);

/// Encodes values. Only SDP4Bit uses the key.
void quantize(const BlockFormat& format, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload, const RoundingKey& key);

/// Decodes codes: code times scale.
void dequantize(const BlockFormat& format, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values);

/// Computes sums = local + dequantized payload. `sums` may be `local`.
void dequantize_add(const BlockFormat& format, std::span<const std::byte> payload,
                    std::size_t first, std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums);

/// Counts the effects of quantize() on the values, with the same key.
QuantizeCounts count(const BlockFormat& format, std::span<const float> values, std::size_t first,
                     std::span<const float> scales, const RoundingKey& key);

}  // namespace equarx::numerics::reciprocal_scale
