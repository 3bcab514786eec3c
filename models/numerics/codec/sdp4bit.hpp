// ScaleRule::sdp4bit: SDP4Bit's reciprocal scales (reciprocal_scale.hpp) with stochastic rounding.
// Source: jindajia/SDP4Bit (Apache-2.0) at ed75187,
// code/tools/jet_quant_cuda/includes/quantization_utils.h.
//
// n is 127 or 7, all in FP32. Rounds stochastically: up with probability x factor - floor(x
// factor). Its random bits come from a clock; here from a RoundingKey, in units of 2^-24. Codes use
// the reciprocal of the transmitted scale, which equals the factor up to its last place, and is
// less precise if the scale is subnormal, for M below n 2^-126. Below n 2^-128 the factor is
// infinite and the whole group becomes 0, as in the reference. A group with a NaN or an Inf decodes
// to NaN.
#pragma once

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::sdp4bit.
/// @throws std::invalid_argument: see check_reciprocal()
std::unique_ptr<const RuleCodec> make_sdp4bit(const BlockFormat& format);

}  // namespace equarx::numerics
