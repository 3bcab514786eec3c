// ScaleRule::zeropp: ZeRO++'s reciprocal scales (reciprocal_scale.hpp) on FP16 values. Source:
// deepspeedai/DeepSpeed (Apache-2.0) at edaa722, csrc/includes/quantization_utils.h,
// Params<Symmetric>.
//
// n is 128 or 8, so that M exceeds the largest code by one step, while -M does not. Rounds to
// nearest, ties to even. Values are FP16: inputs, decoded values and sums are rounded to it. A NaN
// does not contribute to M and becomes 0, so it vanishes; a group of NaNs only, or with an Inf,
// decodes to NaN. DeepSpeed uses fast division with an error of about 2 ulp; divisions here are
// IEEE.
#pragma once

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::zeropp. Its amax are FP16, and at least the smallest
/// FP32 number once any number was seen.
/// @throws std::invalid_argument: see check_reciprocal()
std::unique_ptr<const RuleCodec> make_zeropp(const BlockFormat& format);

}  // namespace equarx::numerics
