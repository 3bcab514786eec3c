// Matrices of codes, packed into 32-bit words as in PyTorch checkpoints.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace equarx::checkpoints {

/// A matrix in row-major order.
template <typename T>
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<T> data = {};

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), data(row_count * column_count) {}

  T& at(std::size_t row, std::size_t column) { return data[row * columns + column]; }
  const T& at(std::size_t row, std::size_t column) const { return data[row * columns + column]; }
  bool empty() const { return data.empty(); }

  bool operator==(const Matrix&) const = default;
};

using Codes = Matrix<std::uint8_t>;
using Words = Matrix<std::int32_t>;

/// In tiles that are copied first: rows at strides of powers of two would share few cache sets.
template <typename T>
Matrix<T> transposed(const Matrix<T>& matrix) {
  constexpr std::size_t kTile = 32;
  std::array<std::array<T, kTile>, kTile> tile{};
  Matrix<T> result(matrix.columns, matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; row += kTile)
    for (std::size_t column = 0; column < matrix.columns; column += kTile) {
      const std::size_t height = std::min(kTile, matrix.rows - row);
      const std::size_t width = std::min(kTile, matrix.columns - column);
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) tile[j][i] = matrix.at(row + i, column + j);
      for (std::size_t j = 0; j < width; ++j)
        std::copy_n(tile[j].begin(), height, &result.at(column + j, row));
    }
  return result;
}

/// Packs each row without gaps, the first code in the lowest bits of the first word; the last word
/// of a row is filled with zeros.
Words pack_rows(const Codes& codes, int bits);

/// Inverse of pack_rows() for rows of `columns` codes, which the words suffice for.
Codes unpack_rows(const Words& words, int bits, std::size_t columns);

/// Words that hold `codes` codes.
constexpr std::size_t word_count(std::size_t codes, int bits) {
  return (codes * static_cast<std::size_t>(bits) + 31) / 32;
}

}  // namespace equarx::checkpoints
