// A GEMM on a unit of integers.
#pragma once

#include <vector>

#include "models/gemm/operand.hpp"
#include "models/gemm/scheme.hpp"

namespace equarx::gemm {

/// matmul() for checked operands and a unit that multiplies codes. @throws std::invalid_argument for
/// shapes that a format does not divide, and sums that may exceed int32
std::vector<float> code_matmul(const Scheme& scheme, const Matrix& x, const Matrix& w,
                               unsigned threads);

}  // namespace equarx::gemm
