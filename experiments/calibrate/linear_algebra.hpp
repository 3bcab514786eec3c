// What a weighted Jacobian says of the parameters.
#pragma once

#include <optional>
#include <vector>

#include "experiments/calibrate/model.hpp"

namespace equarx::calibrate {

/// A Jacobian's singular values when each column is scaled to length 1, from the largest to the smallest, and the
/// combination of parameters that belongs to each. (Belsley, Kuh and Welsch, "Regression Diagnostics", 1980.)
struct Decomposition {
  std::vector<double> lengths;  ///< of the columns
  std::vector<double> singular_values;
  /// By singular value: how much of each parameter, in units of that parameter.
  std::vector<std::vector<double>> combinations;

  /// The largest singular value over this one: the condition index.
  double condition_index(std::size_t i) const { return singular_values[0] / singular_values[i]; }
};

/// `weighted` has at least as many rows as columns, and no column of zeros.
Decomposition decompose(const Jacobian& weighted);

/// (J^T J)^-1, p x p, row-major; nothing if some combination of parameters changes no row.
std::optional<std::vector<double>> covariance(const Decomposition& decomposition);

/// Chi^2 of so many degrees of freedom is at least `chi_squared` with this probability.
double chi_squared_tail(double chi_squared, std::size_t degrees_of_freedom);

}  // namespace equarx::calibrate
