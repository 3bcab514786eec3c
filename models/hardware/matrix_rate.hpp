// How fast matrix products of each type of operands are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// What the operands of a matrix product are. Sums are FP32, or int32 of int8.
enum class MatrixType : std::uint8_t { bf16, fp32, int8, fp8, fp4 };

/// All of them, each at the place of its value.
inline constexpr std::array kMatrixTypes = {MatrixType::bf16, MatrixType::fp32, MatrixType::int8,
                                            MatrixType::fp8, MatrixType::fp4};

/// "bf16", "fp32", "int8", "fp8", "fp4"
std::string_view name(MatrixType type);

/// Peak of a chip in op/s; 0 if it has no such products.
double matrix_rate(const Chip& chip, MatrixType type);

}  // namespace equarx::hardware
