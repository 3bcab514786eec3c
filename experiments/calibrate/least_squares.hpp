// Weighted nonlinear least squares, by the GNU Scientific Library.
#pragma once

#include <functional>
#include <vector>

#include "experiments/calibrate/model.hpp"

namespace equarx::calibrate {

/// What a model's outputs should be.
struct Targets {
  std::vector<double> values;
  std::vector<double> standard_errors;  ///< each above 0
};

/// Where the weighted squares of the differences are least.
struct Fit {
  Point point;  ///< within the limits
  /// Parameters that would be beyond a limit, and were set on it.
  std::vector<bool> at_limit;
  /// Of parameters at their limit: the standard error when they were still fitted; else 0.
  std::vector<double> error_beyond;
  double chi_squared = 0.0;
  std::size_t iterations = 0;
  bool converged = false;  ///< if not, it took too many iterations
};

/// Called with the number of the iteration and chi^2.
using FitProgress = std::function<void(std::size_t, double)>;

/// Levenberg-Marquardt from `start`. A parameter that ends beyond a limit is set on it, that which is farthest in its
/// scale first, and the others are fitted again. Who ends so is fitted once more from where the others fit best without
/// it, and the better of both is what is found.
Fit fit(const UnlimitedModel& model, const Targets& targets, const Point& start,
        const FitProgress& progress);

}  // namespace equarx::calibrate
