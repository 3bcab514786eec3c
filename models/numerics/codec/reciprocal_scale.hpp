// The codecs of ZeRO++ and SDP4Bit: values are multiplied by a factor, and its reciprocal is sent as the scale. What
// BlockCodec does for formats of ScaleRule::zeropp and ScaleRule::sdp4bit.
//
// With M the amax of a group and all codes of two's complement, the lowest too:
//   factor = M == 0 ? 1 : n / M;  scale = 1 / factor, in FP32;  code = clamp(round(x factor));  value = code scale.
//
// ZeRO++: deepspeedai/DeepSpeed (Apache-2.0) at edaa722, csrc/includes/quantization_utils.h, Params<Symmetric>. n is 128
// or 8, so that M itself is beyond the largest code by one step, and -M is not. Rounded to nearest, ties to even. Values
// are FP16: others are rounded to it first, decoded values are rounded to it, and sums in it. A NaN does not count for M
// and becomes 0, so it vanishes; a group of nothing else, or with an Inf, decodes to NaN. DeepSpeed builds it with fast
// division, of about 2 units in the last place; here divisions are IEEE's.
//
// SDP4Bit: jindajia/SDP4Bit (Apache-2.0) at ed75187, code/tools/jet_quant_cuda/includes/quantization_utils.h. n is 127
// or 7, all in FP32. Rounded stochastically: up with a probability of x factor - floor(x factor). Its random bits come
// from a clock; here from a RoundingKey, in units of 2^-24. Codes are of the reciprocal of the scale that is sent, which
// is the factor but for its last place, and less precise where the scale is a subnormal number, for M below n 2^-126.
// Below n 2^-128 the factor is infinite, and all of a group becomes 0, as theirs. A group that holds a NaN or an Inf
// decodes to NaN.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::reciprocal_scale {

/// Whether a format is of these rules.
bool has_rule(const BlockFormat& format);

/// @throws std::invalid_argument for a format of these rules that is not int8 or int4 in contiguous groups with FP32
/// scales, or is rounded otherwise
void check(const BlockFormat& format);

/// Raises each group's amax by those of its values in this piece. Starts from zeros. Of ZeRO++ in FP16, and not
/// below the smallest FP32 once a number was seen.
void find_amax(const BlockFormat& format, std::span<const float> values, std::size_t first,
                 std::span<float> amax);

/// FP32 scales of these amax.
void encode_scales(const BlockFormat& format, std::span<const float> amax,
                   std::span<std::byte> bytes);

/// Values into codes. SDP4Bit alone reads the key.
void quantize(const BlockFormat& format, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload, const RoundingKey& key);

/// Codes times scales.
void dequantize(const BlockFormat& format, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values);

/// sums = local + dequantized payload. `sums` may be `local`.
void dequantize_add(const BlockFormat& format, std::span<const std::byte> payload,
                    std::size_t first, std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums);

/// What quantize() does to the values, with the same key.
QuantizeCounts count(const BlockFormat& format, std::span<const float> values, std::size_t first,
                     std::span<const float> scales, const RoundingKey& key);

}  // namespace equarx::numerics::reciprocal_scale
