// ScaleRule::quickreduce: QuickReduce, an AllReduce for AMD GPUs that serving engines also embed.
// Source: mk1-project/quickreduce at 910e892, csrc/core/allreduce.h (MIT).
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

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::quickreduce. Its amax are extrema, in FP16; NaN is
/// ignored unless a group contains nothing else. Integer codes are in two's complement. (The GPU
/// adds n, which changes no value.)
/// @throws std::invalid_argument for anything but the published formats
std::unique_ptr<const RuleCodec> make_quickreduce(const BlockFormat& format);

}  // namespace equarx::numerics
