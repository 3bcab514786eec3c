#include "models/stored/inverse_root.hpp"

#include <cmath>
#include <stdexcept>

namespace equarx::stored {
namespace {

/// Upper triangle V with V V^T = matrix, from the last column to the first.
std::vector<double> upper_factor(std::size_t size, std::span<const double> matrix) {
  std::vector<double> rest(matrix.begin(), matrix.end());
  std::vector<double> upper(size * size, 0.0);
  std::vector<double> column(size);
  for (std::size_t k = size; k-- > 0;) {
    const double pivot = rest[k * size + k];
    if (!(pivot > 0.0)) throw std::invalid_argument("not positive definite");
    for (std::size_t i = 0; i <= k; ++i) column[i] = rest[k * size + i] / std::sqrt(pivot);
    for (std::size_t i = 0; i <= k; ++i) upper[i * size + k] = column[i];
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j <= i; ++j) rest[i * size + j] -= column[i] * column[j];
  }
  return upper;
}

/// Inverse of an upper triangle, row by row.
std::vector<double> inverse_of(std::size_t size, std::span<const double> upper) {
  std::vector<double> inverse(size * size, 0.0);
  for (std::size_t i = size; i-- > 0;) {
    double* row = inverse.data() + i * size;
    for (std::size_t k = i + 1; k < size; ++k) {
      const double factor = upper[i * size + k];
      const double* below = inverse.data() + k * size;
      for (std::size_t j = k; j < size; ++j) row[j] -= factor * below[j];
    }
    const double pivot = upper[i * size + i];
    for (std::size_t j = i + 1; j < size; ++j) row[j] /= pivot;
    row[i] = 1.0 / pivot;
  }
  return inverse;
}

}  // namespace

std::vector<double> inverse_root(std::size_t size, std::span<const double> matrix) {
  return inverse_of(size, upper_factor(size, matrix));
}

}  // namespace equarx::stored
