#include "models/stored/inverse_root.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/os/parallel_for.hpp"
#include "models/numerics/kernels/multiples.hpp"

namespace equarx::stored {
namespace {

/// Columns that are computed together; every element keeps the order of its sum.
constexpr std::size_t kColumnsAtOnce = 32;

/// Upper triangle V with V V^T = matrix, from the last column to the first.
class UpperFactor {
 public:
  UpperFactor(std::size_t size, std::span<const double> matrix)
      : size_(size), rest_(matrix.begin(), matrix.end()), columns_(size * size, 0.0) {}

  std::vector<double> found(unsigned threads) {
    for (std::size_t end = size_; end > 0;) {
      const std::size_t first = end - std::min(end, kColumnsAtOnce);
      for (std::size_t k = end; k-- > first;) {
        find_column(k);
        for (std::size_t i = first; i < k; ++i) subtract(i, k, k + 1);
      }
      os::parallel_for(first, threads, [&](std::size_t i, unsigned) { subtract(i, first, end); });
      end = first;
    }
    std::vector<double> upper(size_ * size_);
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t k = i; k < size_; ++k) upper[i * size_ + k] = columns_[k * size_ + i];
    return upper;
  }

 private:
  void find_column(std::size_t k) {
    const double pivot = rest_[k * size_ + k];
    if (!(pivot > 0.0)) throw std::invalid_argument("not positive definite");
    for (std::size_t i = 0; i <= k; ++i)
      columns_[k * size_ + i] = rest_[k * size_ + i] / std::sqrt(pivot);
  }

  /// Subtracts the products of columns [first, end), last one first, from row i of the rest.
  void subtract(std::size_t i, std::size_t first, std::size_t end) {
    double* row = rest_.data() + i * size_;
    for (std::size_t k = end; k-- > first;) {
      const double* column = columns_.data() + k * size_;
      numerics::kernels::add_multiple(-column[i], column, i + 1, row);
    }
  }

  std::size_t size_;
  std::vector<double> rest_;     ///< lower triangle
  std::vector<double> columns_;  ///< of V, in rows
};

/// Columns [first, end) of the inverse of an upper triangle, row by row from the last.
void invert_columns(std::size_t size, std::span<const double> upper, std::size_t first,
                    std::size_t end, std::vector<double>& inverse) {
  for (std::size_t i = end; i-- > 0;) {
    double* row = inverse.data() + i * size;
    for (std::size_t k = i + 1; k < end; ++k) {
      const double factor = upper[i * size + k];
      const double* below = inverse.data() + k * size;
      const std::size_t start = std::max(k, first);
      numerics::kernels::add_multiple(-factor, below + start, end - start, row + start);
    }
    const double pivot = upper[i * size + i];
    for (std::size_t j = std::max(i + 1, first); j < end; ++j) row[j] /= pivot;
    if (i >= first) row[i] = 1.0 / pivot;
  }
}

/// Inverse of an upper triangle.
std::vector<double> inverse_of(std::size_t size, std::span<const double> upper, unsigned threads) {
  std::vector<double> inverse(size * size, 0.0);
  const std::size_t blocks = (size + kColumnsAtOnce - 1) / kColumnsAtOnce;
  os::parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
    const std::size_t first = block * kColumnsAtOnce;
    invert_columns(size, upper, first, std::min(first + kColumnsAtOnce, size), inverse);
  });
  return inverse;
}

}  // namespace

std::vector<double> inverse_root(std::size_t size, std::span<const double> matrix,
                                 unsigned threads) {
  return inverse_of(size, UpperFactor(size, matrix).found(threads), threads);
}

}  // namespace equarx::stored
