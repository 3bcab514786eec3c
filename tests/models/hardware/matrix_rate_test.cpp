#include "models/hardware/matrix_rate.hpp"

#include <set>

#include "tests/catch.hpp"

namespace equarx::hardware::matrix_rate_test {
namespace {

TEST_CASE("each operand type has the rate of its parameter, or 0 without it") {
  Chip chip;
  chip.matrix_rate_bf16.value = 1e12;
  chip.matrix_rate_int8.value = 2e12;
  CHECK(matrix_rate(chip, MatrixType::bf16) == 1e12);
  CHECK(matrix_rate(chip, MatrixType::int8) == 2e12);
  CHECK(matrix_rate(chip, MatrixType::fp8) == 0.0);
  chip.matrix_rate_fp8.value = 3e12;
  chip.matrix_rate_fp4.value = 4e12;
  chip.matrix_rate_fp32.value = 5e12;
  chip.matrix_rate_int1.value = 6e12;
  chip.matrix_rate_table.value = 7e12;
  CHECK(matrix_rate(chip, MatrixType::fp8) == 3e12);
  CHECK(matrix_rate(chip, MatrixType::fp4) == 4e12);
  CHECK(matrix_rate(chip, MatrixType::fp32) == 5e12);
  CHECK(matrix_rate(chip, MatrixType::int1) == 6e12);
  CHECK(matrix_rate(chip, MatrixType::table) == 7e12);
}

TEST_CASE("a type without its own efficiency has that of bf16") {
  Chip chip;
  chip.matrix_efficiency.value = 0.8;
  for (const MatrixType type : kMatrixTypes) CHECK(matrix_efficiency(chip, type) == 0.8);
  chip.matrix_efficiency_fp32.value = 0.1;
  chip.matrix_efficiency_int8.value = 0.2;
  chip.matrix_efficiency_fp8.value = 0.3;
  chip.matrix_efficiency_fp4.value = 0.4;
  chip.matrix_efficiency_int1.value = 0.5;
  chip.matrix_efficiency_table.value = 0.6;
  CHECK(matrix_efficiency(chip, MatrixType::bf16) == 0.8);
  CHECK(matrix_efficiency(chip, MatrixType::fp32) == 0.1);
  CHECK(matrix_efficiency(chip, MatrixType::int8) == 0.2);
  CHECK(matrix_efficiency(chip, MatrixType::fp8) == 0.3);
  CHECK(matrix_efficiency(chip, MatrixType::fp4) == 0.4);
  CHECK(matrix_efficiency(chip, MatrixType::int1) == 0.5);
  CHECK(matrix_efficiency(chip, MatrixType::table) == 0.6);
}

TEST_CASE("names of operand types are unique suffixes of the keys of their rates") {
  std::set<std::string_view> names;
  for (const MatrixType type : kMatrixTypes) {
    CHECK(kMatrixTypes.at(static_cast<std::size_t>(type)) == type);
    CHECK(names.insert(name(type)).second);
    CHECK(find_parameter("matrix_rate_" + std::string(name(type))) != nullptr);
  }
}

}  // namespace
}  // namespace equarx::hardware::matrix_rate_test
