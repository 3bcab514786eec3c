// How well measurements determine a chip's parameters together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/units/quantity.hpp"

namespace equarx::hardware {

/// What an observation is for.
enum class ObservationRole : std::uint8_t {
  fit,    ///< parameters were fitted to it
  check,  ///< it was compared with the fitted chip only
};

/// "fit" or "check".
std::string_view name(ObservationRole role);

/// Something measured on the real chip, beside what the fitted one does. For people: nothing is computed from it.
struct Observation {
  std::string what;    ///< in words
  std::string source;  ///< who measured it
  ObservationRole role = ObservationRole::fit;
  /// Of the three numbers, which are in its base unit; plain numbers without one.
  std::optional<units::Dimension> dimension = std::nullopt;
  double measured = 0.0;
  double standard_error = 0.0;  ///< above 0
  double simulated = 0.0;       ///< with the fitted parameters
};

/// The outcome of fitting several parameters at once. Errors of parameters that were fitted together, and of those
/// that the fit had to assume, go together: the covariance of parameters i and j is
/// standard_uncertainty(i) * standard_uncertainty(j) * correlation[i * n + j].
/// `correlation` has no wrong_correlation(), and is_positive_semidefinite().
struct Calibration {
  std::vector<std::string> parameters;  ///< keys of parameters that have a standard_uncertainty()
  std::vector<double> correlation;      ///< n x n, row-major
  std::vector<Observation> observations;
};

/// Rounding of numbers in a file: entries of a correlation matrix may be off by this much.
inline constexpr double kCorrelationRounding = 1e-6;

/// The first entry that does not mirror the one across the diagonal, is not 1 on the diagonal, or is outside of
/// -1 to 1; none if all are right. `matrix` is n x n, row-major.
std::optional<std::size_t> wrong_correlation(std::span<const double> matrix, std::size_t n);

/// Whether no combination of the parameters has a negative variance: n x n, row-major, symmetric; smallest
/// eigenvalue not below -2 n kCorrelationRounding.
bool is_positive_semidefinite(std::span<const double> matrix, std::size_t n);

/// Lower triangular L with L L^T = `matrix`, but for kCorrelationRounding on the diagonal: turns independent
/// normal numbers into correlated ones. n x n, row-major; empty if the matrix is not is_positive_semidefinite().
std::vector<double> correlation_factor(std::span<const double> matrix, std::size_t n);

}  // namespace equarx::hardware
