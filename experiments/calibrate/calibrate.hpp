// Fits parameters of a chip to measurements.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// A change of a parameter, in its unit.
struct ParameterChange {
  const hardware::ParameterInfo* info = nullptr;
  double by = 0.0;
};

/// Result for a parameter of `fit`.
struct FittedParameter {
  const hardware::ParameterInfo* info = nullptr;
  double start = 0.0;
  double value = 0.0;
  /// Includes measurement errors and the uncertainty of given parameters; std::nullopt at a limit.
  std::optional<double> standard_error;
  /// Standard error before the parameter was fixed at a limit; 0 if it was not.
  double error_beyond = 0.0;

  bool at_limit() const { return !standard_error; }
};

/// A measurement compared with the fitted chip.
struct CalibrationRow {
  double simulated = 0.0;
  double model_error = 0.0;  ///< standard error of `simulated` due to parameter uncertainty
};

/// A weakly identified combination of parameters.
struct WeakCombination {
  double condition_index = 0.0;
  /// Together change no fitted row by more than kUnnoticed standard errors.
  std::vector<ParameterChange> changes;
};

/// Result of a calibration.
struct CalibrationResult {
  std::vector<FittedParameter> parameters;
  /// Fitted parameters not at a limit, then given ones.
  std::vector<const hardware::ParameterInfo*> correlated;
  std::vector<double> correlation;  ///< of `correlated`, row-major
  double chi_squared = 0.0;
  std::size_t degrees_of_freedom = 0;
  double probability = 1.0;  ///< p-value of chi_squared
  std::size_t iterations = 0;
  bool converged = false;
  std::vector<double> condition_indices;  ///< by combination; the first is 1
  std::vector<WeakCombination> weak;
  std::vector<CalibrationRow> rows;  ///< by measurement
};

/// Parameters are reported as weakly identified from this condition index on; Belsley, Kuh and
/// Welsch ("Regression Diagnostics", 1980) call dependencies from 30 on moderate to strong.
inline constexpr double kWeakConditionIndex = 30.0;
/// Largest change of a row by a reported combination, in standard errors.
inline constexpr double kUnnoticed = 0.1;
/// p-value below which the fit is reported as failed.
inline constexpr double kHopelessProbability = 1e-3;

/// Called with a progress message.
using CalibrationProgress = std::function<void(const std::string&)>;

/// Fits by weighted least squares and propagates the uncertainty of given parameters.
/// @throws InputError if a measurement cannot be simulated, or if the measurements do not determine
/// a parameter or a combination of parameters
CalibrationResult calibrate(const CalibrationTask& task, const CalibrationProgress& progress);

/// Rounds a fitted value far below its standard error, in the unit it is printed in.
double rounded(const hardware::ParameterInfo& info, double value, double standard_error);

/// The chip with the fitted parameters and their sources.
hardware::Chip calibrated_chip(const CalibrationTask& task, const CalibrationResult& result);

/// "hop_latency up by 1 us and collective_startup down by 14 us"
std::string describe(const std::vector<ParameterChange>& changes);

}  // namespace equarx::calibrate
