// Joint calibration of a chip's parameters: correlations and observations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units/quantity.hpp"

namespace equarx::hardware {

/// Purpose of an observation.
enum class ObservationRole : std::uint8_t {
  fit,    ///< parameters were fitted to it
  check,  ///< only compared with the fitted chip
};

/// "fit" or "check".
std::string_view name(ObservationRole role);

/// A measurement on the real chip and the corresponding result of the fitted chip. Informative:
/// nothing is computed from it.
struct Observation {
  std::string what;    ///< description
  std::string source;  ///< source of the measurement
  ObservationRole role = ObservationRole::fit;
  /// Dimension of the three numbers below, which are in its base unit; plain numbers if absent.
  std::optional<units::Dimension> dimension = std::nullopt;
  double measured = 0.0;
  double standard_error = 0.0;  ///< above 0
  double simulated = 0.0;       ///< with the fitted parameters
};

/// Result of a joint fit of several parameters. Errors of fitted parameters, and of parameters
/// assumed by the fit, are correlated: the covariance of parameters i and j is
/// standard_uncertainty(i) * standard_uncertainty(j) * correlation[i * n + j]. `correlation` has no
/// wrong_correlation() and is_positive_semidefinite().
struct Calibration {
  std::vector<std::string> parameters;  ///< keys of parameters with a standard_uncertainty()
  std::vector<double> correlation;      ///< n x n, row-major
  std::vector<Observation> observations;
};

/// Tolerance for the rounding of numbers in files, per entry of a correlation matrix.
inline constexpr double kCorrelationRounding = 1e-6;

/// Returns the index of the first entry that breaks symmetry, is not 1 on the diagonal, or lies
/// outside [-1, 1]; std::nullopt if all are valid. `matrix` is n x n, row-major.
std::optional<std::size_t> wrong_correlation(std::span<const double> matrix, std::size_t n);

/// True if no linear combination of the parameters has a negative variance, i.e. the smallest
/// eigenvalue is at least -2 n kCorrelationRounding. `matrix` is n x n, row-major, symmetric.
bool is_positive_semidefinite(std::span<const double> matrix, std::size_t n);

/// Returns the lower triangular L with L L^T = `matrix`, up to kCorrelationRounding on the
/// diagonal; maps independent normal variates to correlated ones. n x n, row-major; empty unless
/// is_positive_semidefinite().
std::vector<double> correlation_factor(std::span<const double> matrix, std::size_t n);

}  // namespace equarx::hardware
