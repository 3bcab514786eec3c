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
// - E8M0 scales are powers of two, 2^-127 (also for a zero group) to 2^127, or NaN as above. With
//   emax = floor(log2(M)), BlockFormat::scale_rounding selects:
//   - floor: 2^(floor(log2(amax)) - emax), the rule of the OCP MX Specification v1.0, section 6.3
//     (opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf). The amax may
//     exceed M x scale by up to a factor of 2: codes saturate at M.
//   - up: the smallest power of two with amax <= M x scale, so that nothing saturates, except mxint8
//     above 127/64 x 2^127. NVIDIA's rule, amax / M rounded up to E8M0: quantize_round_up() of cuDNN
//     (docs.nvidia.com/deeplearning/cudnn/frontend/latest/operations/BlockScaling.html),
//     float_to_e8m0() of Transformer Engine, ScaleCalculationMode.RCEIL of pytorch/ao
//     (torchao/prototype/mx_formats/mx_tensor.py). Their FP32 product of amax and 1 / M rounds
//     differently only below 2^-126.
//   - even: floor with amax rounded to the mantissa bits of the element, to nearest even: 2^(emax +
//     1) - half a step rounds to the next power of two and doubles the scale. Smaller amax above M
//     saturates. ScaleCalculationMode.EVEN of pytorch/ao, the default of AMD Quark (even_round() in
//     quark/torch/quantization/utils.py of amd/Quark), MxScaleRoundMode.Even of ROCm/aiter: they add
//     half a step to the bits of amax; a tie at the last step below a power of two rounds up in
//     both. FP8, FP6 and FP4 only: pytorch/ao and aiter define it for these, and Quark's int8 has 8
//     mantissa bits instead of the 6 fraction bits of MXINT8.
//   With up and even, an amax that rounds to 2^128 in the element's precision decodes to Inf.
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
/// scales; a scale_rounding other than floor without E8M0 scales, or even for integers
std::unique_ptr<const RuleCodec> make_amax_scale(const BlockFormat& format);

}  // namespace equarx::numerics
