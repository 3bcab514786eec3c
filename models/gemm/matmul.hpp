// Values of a GEMM of quantized operands.
#pragma once

#include <vector>

#include "models/gemm/operand.hpp"
#include "models/gemm/scheme.hpp"

namespace equarx::gemm {

/// Y = X W^T, `x.shape.rows` x `w.shape.rows`, in row-major order and FP32.
///
/// Operands are encoded as their formats state. With scales before the product, decoded values are
/// rounded to the type of the unit, saturating, and form a single group; otherwise the borders of
/// groups of both operands divide the inputs into groups.
/// - Units of floats: products are exact except in FP32, and added within a group in the order of
///   inputs, beginning at 0, and rounded to the accumulator after each addition.
/// - Units of integers: sums of (code - zero point) are exact, then rounded to FP32.
/// - The sum of a group is multiplied with the FP32 product of both scales, and added to the result
///   in FP32 in the order of groups.
///
/// The result does not depend on `threads`. @throws std::invalid_argument for other shapes, values
/// that are not finite, shapes that a format does not divide, and sums that may exceed int32
std::vector<float> matmul(const Scheme& scheme, const Matrix& x, const Matrix& w,
                          unsigned threads = 1);

/// The same product in FP64, without formats: sums in the order of inputs.
std::vector<double> exact_matmul(const Matrix& x, const Matrix& w, unsigned threads = 1);

}  // namespace equarx::gemm
