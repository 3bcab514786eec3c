// FP32 vector operations per element. Counted by hand from the obvious instruction sequence on
// lanes that compute in FP32 only, as on TPU v5e. Each is an assumption, good to about a factor of
// two; the effect is small, because element-wise work is limited by HBM (docs/workloads.md).
#pragma once

#include "models/formats/vector_work.hpp"

namespace equarx::workloads {

/// Vector operations to decode an element.
inline constexpr double kFromBf16 = numerics::decode_operations(numerics::ElementFormat::bf16);
/// Vector operations to encode an element.
inline constexpr double kToBf16 = numerics::encode_operations(numerics::ElementFormat::bf16);
/// Vector operations to add two elements.
inline constexpr double kAdd = 1.0;
/// Statistics of a root-mean-square norm: square, add.
inline constexpr double kNormSum = 2.0;
/// Scaling of a root-mean-square norm: multiply by the reciprocal root and by the weight.
inline constexpr double kNormScale = 2.0;
/// Rotary position: multiply by cosine and sine, add, exchange halves.
inline constexpr double kRotate = 4.0;
/// Scale, compare and select for the mask, maximum, subtract, exponential (2), add up, multiply by
/// the reciprocal sum.
inline constexpr double kSoftmax = 9.0;
/// tanh approximation: the cubic (4), hyperbolic tangent (2), add, multiply, halve.
inline constexpr double kGelu = 9.0;
/// Exponential (2), add, reciprocal, multiply.
inline constexpr double kSilu = 5.0;
/// Both branches and a selection by sign (2): (a x + b) x above zero (3); below, a minimum, an
/// exponential (2), and a (e - 1) + c x (4). arXiv 2411.13010, with curvatures made once a layer.
inline constexpr double kXielu = 12.0;
/// Maximum of an element and zero.
inline constexpr double kRelu = 1.0;
/// Vector operations to multiply two elements.
inline constexpr double kMultiply = 1.0;

}  // namespace equarx::workloads
