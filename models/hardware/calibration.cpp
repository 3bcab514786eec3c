#include "models/hardware/calibration.hpp"

#include <cmath>
#include <stdexcept>

namespace equarx::hardware {

std::string_view name(ObservationRole role) {
  switch (role) {
    case ObservationRole::fit: return "fit";
    case ObservationRole::check: return "check";
  }
  throw std::logic_error("unknown role of an observation");
}

std::optional<std::size_t> wrong_correlation(std::span<const double> matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double entry = matrix[i * n + j];
      const double expected = i == j ? 1.0 : matrix[j * n + i];
      // Written so that NaN is rejected.
      if (!(std::abs(entry - expected) <= kCorrelationRounding && std::abs(entry) <= 1.0))
        return i * n + j;
    }
  return std::nullopt;
}

bool is_positive_semidefinite(std::span<const double> matrix, std::size_t n) {
  return n == 0 || !correlation_factor(matrix, n).empty();
}

// Cholesky decomposition of the matrix with all eigenvalues shifted up slightly; it exists if and
// only if all shifted eigenvalues are positive.
std::vector<double> correlation_factor(std::span<const double> matrix, std::size_t n) {
  const double allowance = 2.0 * static_cast<double>(n) * kCorrelationRounding;
  std::vector<double> factor(matrix.begin(), matrix.end());
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) factor[i * n + j] = 0.0;
    for (std::size_t i = j; i < n; ++i) {
      double rest = factor[i * n + j] + (i == j ? allowance : 0.0);
      for (std::size_t k = 0; k < j; ++k) rest -= factor[i * n + k] * factor[j * n + k];
      if (i == j && !(rest > 0.0)) return {};
      factor[i * n + j] = i == j ? std::sqrt(rest) : rest / factor[j * n + j];
    }
  }
  return factor;
}

}  // namespace equarx::hardware
