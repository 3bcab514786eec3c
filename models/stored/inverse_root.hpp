// Cholesky factor of an inverse matrix.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace equarx::stored {

/// Upper triangle U with U^T U = the inverse of a symmetric matrix [size, size], in FP64,
/// on up to `threads` threads. @throws std::invalid_argument if the matrix is not positive definite
std::vector<double> inverse_root(std::size_t size, std::span<const double> matrix,
                                 unsigned threads = 1);

}  // namespace equarx::stored
