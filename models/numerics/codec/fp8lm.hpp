// ScaleRule::fp8lm: one power of two times `mu` for the FP8 codes of all ranks, in FP32. Source:
// Azure/MS-AMP (MIT), msamp/common/tensor/meta.py and msamp/nn/distributed.py.
//
//   e = floor(log2(M / amax)), M the largest finite value of the element;
//   code = FP8(x * f), f = 2^e mu, rounded to nearest even and saturated; value = code * (1 / f).
//
// MS-AMP's constant mu is 1 / sqrt(N), so f is a power of two only for some N. MS-AMP's division by
// N, which turns the sum into a mean, is left to the caller. If amax is 0 or not finite, MS-AMP
// keeps 2^e of the previous step; without one, it is 1 here, and an Inf saturates as in MS-AMP. In
// addition, e is limited to 125, so that f and 1 / f are normal numbers. Sums of codes are FP8.
#pragma once

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::fp8lm.
/// @throws std::invalid_argument for anything but OFP8 elements without scales of groups, rounded
/// to nearest; or a mu that is not a number above 0
std::unique_ptr<const RuleCodec> make_fp8lm(const BlockFormat& format);

}  // namespace equarx::numerics
