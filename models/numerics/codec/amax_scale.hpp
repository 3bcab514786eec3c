// ScaleRule::amax: scales in proportion to the largest magnitude of a group, or none.
//
// With M the largest finite value of an element (127 for int8, 31 for int6, 7 for int4, 448 for
// E4M3, 240 for E4M3FNUZ, 57344 for E5M2 and E5M2FNUZ, 7.5 for E2M3, 28 for E3M2, 6 for E2M1,
// 127/64 for mxint8):
// - scale = amax / M, at least 2^-126 so that it is normal; 0 if the whole group is zero; NaN if
//   the group contains a NaN or an Inf. It is then rounded to the scale format, to nearest even,
//   or down where M x scale would otherwise overflow. If a scale is rounded down, codes saturate
//   at M.
// - E4M3 scales: the same, but at least 2^-9, the smallest E4M3 number, and at most 448.
// - With a tensor scale t, E4M3 scales are computed from amax / t and apply in units of t:
//   t = largest finite amax / (448 M) over the minishard or more, at least 2^-117 so that t x 2^-9
//   is normal, and one step less where 448 t x M would overflow. t precedes the scales, in FP32.
// - E8M0 scales are 2^(floor(log2(amax)) - floor(log2(M))), the rule of the OCP MX Specification
//   v1.0, section 6.3, and at least 2^-127, even for a zero group. The amax may exceed M x scale
//   by up to a factor of 2: codes saturate at M. NaN as above.
// - code = x / scale, an IEEE division, rounded to nearest even. A NaN quotient (scale 0 or NaN)
//   has code 0.
// - value = code x scale in FP32. A zero group thus decodes to 0, and a group with a NaN or an Inf
//   decodes to NaN entirely: non-finite values neither vanish nor affect another group.
// - The int8 error is at most scale / 2, up to FP32 rounding. For a group with amax < 2^-126 x M
//   the scale is larger than amax / M, and the error at most 2^-127.
// - Without scales a code is the cast of x: fp32 is exact, bf16 and FP8 follow bfloat16.hpp and
//   minifloat.hpp, int8 is the nearest integer (ties to even) within +-127. int8 has no code for
//   NaN, which becomes 0, nor for Inf, which saturates; count() reports both.
// - Stochastic rounding: a quotient between two codes becomes the one away from zero with a
//   probability equal to its distance from the other, in steps (in units of 2^-24), so that the
//   mean is unbiased. Exact, saturated and non-finite codes are as above.
#pragma once

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::amax.
/// @throws std::invalid_argument for fp32, bf16 or fp16 with scales; exp8; 4-bit, 6-bit or mxint8
/// elements without; stochastic rounding of anything but int8 and FP8; a tensor scale without E4M3
/// scales
std::unique_ptr<const RuleCodec> make_amax_scale(const BlockFormat& format);

}  // namespace equarx::numerics
