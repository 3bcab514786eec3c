// Fits parameters of a chip to measurements.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// A parameter and a number in its unit.
struct ParameterChange {
  const hardware::ParameterInfo* info = nullptr;
  double by = 0.0;
};

/// What became of a parameter of `fit`.
struct FittedParameter {
  const hardware::ParameterInfo* info = nullptr;
  double start = 0.0;
  double value = 0.0;
  /// Of the measurements' errors and of what is given; none at a limit.
  std::optional<double> standard_error;
  /// At a limit: the standard error before it was set there.
  double error_beyond = 0.0;

  bool at_limit() const { return !standard_error; }
};

/// A measurement beside the fitted chip.
struct CalibrationRow {
  double simulated = 0.0;
  double model_error = 0.0;  ///< standard error of `simulated`, because parameters have theirs
};

/// Parameters that the fitted measurements hardly tell apart.
struct WeakCombination {
  double condition_index = 0.0;
  std::vector<ParameterChange> changes;  ///< which together change no fitted row by more than
                                         ///< kUnnoticed standard errors
};

/// What was found.
struct CalibrationResult {
  std::vector<FittedParameter> parameters;
  /// Fitted parameters that are not at a limit, and those given.
  std::vector<const hardware::ParameterInfo*> correlated;
  std::vector<double> correlation;  ///< of them, row-major
  double chi_squared = 0.0;
  std::size_t degrees_of_freedom = 0;
  double probability =
      1.0;  ///< of such a chi^2 or more, if the model and all standard errors are right
  std::size_t iterations = 0;
  bool converged = false;
  std::vector<double> condition_indices;  ///< by combination; the first is 1
  std::vector<WeakCombination> weak;
  std::vector<CalibrationRow> rows;  ///< by measurement
};

/// From this condition index on, parameters are reported as hard to tell apart: Belsley, Kuh and Welsch ("Regression
/// Diagnostics", 1980) call dependencies from 30 on moderate to strong.
inline constexpr double kWeakConditionIndex = 30.0;
/// What a reported combination changes at most, in standard errors.
inline constexpr double kUnnoticed = 0.1;
/// Below this probability the fit is called hopeless.
inline constexpr double kHopelessProbability = 1e-3;

/// Called with a line about what is done.
using CalibrationProgress = std::function<void(const std::string&)>;

/// Fits by weighted least squares, and propagates the uncertainty of what is given.
/// @throws InputError if a measurement cannot be simulated, if no fitted one depends on a parameter, or if they
///         cannot tell parameters apart at all.
CalibrationResult calibrate(const CalibrationTask& task, const CalibrationProgress& progress);

/// A parameter that the measurements determined, as a person would write it: rounded far below its standard error.
double rounded(const hardware::ParameterInfo& info, double value, double standard_error);

/// The chip with what was found, and where it comes from.
hardware::Chip calibrated_chip(const CalibrationTask& task, const CalibrationResult& result);

/// "hop_latency up by 1 us and collective_startup down by 14 us"
std::string describe(const std::vector<ParameterChange>& changes);

}  // namespace equarx::calibrate
