// Weighted nonlinear least squares with bounds, based on the GNU Scientific Library.
#pragma once

#include <functional>
#include <vector>

#include "experiments/calibrate/model.hpp"

namespace equarx::calibrate {

/// Target values of a model's outputs.
struct Targets {
  std::vector<double> values;
  std::vector<double> standard_errors;  ///< each above 0
};

/// Minimum of the sum of weighted squared residuals.
struct Fit {
  Point point;  ///< within the limits
  /// Parameters fixed at a limit because the fit would exceed it.
  std::vector<bool> at_limit;
  /// Standard error of a parameter before it was fixed at its limit; 0 for free parameters.
  std::vector<double> error_beyond;
  double chi_squared = 0.0;
  std::size_t iterations = 0;
  bool converged = false;  ///< false if the iteration limit was reached
};

/// Called with iteration number and chi^2.
using FitProgress = std::function<void(std::size_t, double)>;

/// Levenberg-Marquardt from `start`. A parameter that ends beyond a limit is fixed at it, the
/// farthest in units of its scale first, and the others are refitted. Parameters fixed this way are
/// fitted once more from the optimum of the others; returns the better of the two fits.
Fit fit(const UnlimitedModel& model, const Targets& targets, const Point& start,
        const FitProgress& progress);

}  // namespace equarx::calibrate
