// Condition indices and covariance from a weighted Jacobian.
#pragma once

#include <optional>
#include <vector>

#include "experiments/calibrate/model.hpp"

namespace equarx::calibrate {

/// Singular values of a Jacobian with columns scaled to unit length, descending, and the parameter
/// combination of each (Belsley, Kuh and Welsch, "Regression Diagnostics", 1980).
struct Decomposition {
  std::vector<double> lengths;  ///< column norms
  std::vector<double> singular_values;
  /// Coefficients of the parameters in their units, by singular value.
  std::vector<std::vector<double>> combinations;

  /// Condition index: largest singular value / singular value i.
  double condition_index(std::size_t i) const { return singular_values[0] / singular_values[i]; }
};

/// `weighted`: at least as many rows as columns, no zero column
Decomposition decompose(const Jacobian& weighted);

/// Computes (J^T J)^-1, p x p, row-major; std::nullopt if J is rank-deficient.
std::optional<std::vector<double>> covariance(const Decomposition& decomposition);

/// Upper tail probability (p-value) of a chi^2 distribution.
double chi_squared_tail(double chi_squared, std::size_t degrees_of_freedom);

}  // namespace equarx::calibrate
