#include "models/hardware/matrix_rate.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>

namespace equarx::hardware {

std::string_view name(MatrixType type) {
  switch (type) {
    case MatrixType::bf16: return "bf16";
    case MatrixType::fp32: return "fp32";
    case MatrixType::int8: return "int8";
    case MatrixType::fp8: return "fp8";
    case MatrixType::fp4: return "fp4";
    case MatrixType::int1: return "int1";
    case MatrixType::table: return "table";
  }
  throw std::logic_error("unknown type of matrix products");
}

double matrix_rate(const Chip& chip, MatrixType type) {
  switch (type) {
    case MatrixType::bf16: return chip.matrix_rate_bf16.value;
    case MatrixType::fp32: return chip.matrix_rate_fp32.value;
    case MatrixType::int8: return chip.matrix_rate_int8.value;
    case MatrixType::fp8: return chip.matrix_rate_fp8.value;
    case MatrixType::fp4: return chip.matrix_rate_fp4.value;
    case MatrixType::int1: return chip.matrix_rate_int1.value;
    case MatrixType::table: return chip.matrix_rate_table.value;
  }
  throw std::logic_error("unknown type of matrix products");
}

double matrix_efficiency(const Chip& chip, MatrixType type) {
  constexpr std::array<Parameter Chip::*, kMatrixTypes.size()> kShares = {
      &Chip::matrix_efficiency,      &Chip::matrix_efficiency_fp32, &Chip::matrix_efficiency_int8,
      &Chip::matrix_efficiency_fp8,  &Chip::matrix_efficiency_fp4,  &Chip::matrix_efficiency_int1,
      &Chip::matrix_efficiency_table};
  const double share = (chip.*kShares[static_cast<std::size_t>(type)]).value;
  return share > 0.0 ? share : chip.matrix_efficiency.value;
}

}  // namespace equarx::hardware
