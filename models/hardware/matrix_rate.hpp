// Peak GEMM rate by operand type.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Operand type of a GEMM. Accumulation is in FP32, or int32 for int8, int1 (bit planes)
/// and table (products of codes from a table).
enum class MatrixType : std::uint8_t { bf16, fp32, int8, fp8, fp4, int1, table };

/// All types, indexed by their value.
inline constexpr std::array kMatrixTypes = {MatrixType::bf16, MatrixType::fp32, MatrixType::int8,
                                            MatrixType::fp8,  MatrixType::fp4,  MatrixType::int1,
                                            MatrixType::table};

/// Types of single numbers.
inline constexpr std::array kNumberTypes = {MatrixType::bf16, MatrixType::fp32, MatrixType::int8,
                                            MatrixType::fp8, MatrixType::fp4};

/// Returns "bf16", "fp32", "int8", "fp8", "fp4", "int1" or "table".
std::string_view name(MatrixType type);

/// Returns the peak rate of the chip in op/s; 0 if the type is not supported.
double matrix_rate(const Chip& chip, MatrixType type);

/// Returns the share of that rate which GEMMs reach, by type; bf16 if the type has none.
double matrix_efficiency(const Chip& chip, MatrixType type);

}  // namespace equarx::hardware
