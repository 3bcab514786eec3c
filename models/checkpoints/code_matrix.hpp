// Matrices of codes, packed into 32-bit words as in PyTorch checkpoints.
#pragma once

#include <algorithm>
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

/// In tiles, each of which fits in the L1 cache.
template <typename T>
Matrix<T> transposed(const Matrix<T>& matrix) {
  constexpr std::size_t kTile = 32;
  Matrix<T> result(matrix.columns, matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; row += kTile)
    for (std::size_t column = 0; column < matrix.columns; column += kTile)
      for (std::size_t i = row; i < std::min(row + kTile, matrix.rows); ++i)
        for (std::size_t j = column; j < std::min(column + kTile, matrix.columns); ++j)
          result.at(j, i) = matrix.at(i, j);
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
