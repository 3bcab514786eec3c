// Converts a calibration result into a chip for a hardware file.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/calibrate/calibrate.hpp"
#include "experiments/calibrate/kernel_groups.hpp"

namespace equarx::calibrate {
namespace {

/// Rounds to five digits, below any measurement accuracy.
double rounded_for_people(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

/// Observations of the chip: single measurements, and groups of kernels by the geometric mean of
/// simulated / measured, with the rms of its logarithm as the error.
std::vector<hardware::Observation> observations_of(const CalibrationTask& task,
                                                   const CalibrationResult& result) {
  std::vector<hardware::Observation> observations;
  for (const KernelGroup& group : kernel_groups(task, result.rows))
    observations.push_back(
        {fmt::format("{} rows: {}, simulated / measured", group.rows, group.what), group.source,
         group.role, std::nullopt, 1.0, rounded_for_people(group.rms),
         rounded_for_people(std::exp(group.bias))});
  for (std::size_t i = 0; i < task.measurements.size(); ++i) {
    const Measurement& measurement = task.measurements[i];
    if (std::holds_alternative<SimulatedNumber>(measurement.of))
      observations.push_back({measurement.what, measurement.source, measurement.role,
                              measurement.dimension, measurement.measured,
                              measurement.standard_error,
                              rounded_for_people(result.rows[i].simulated)});
  }
  return observations;
}

/// Fitted measurements, kernels by their number only, and their distinct sources.
std::string observations_text(const CalibrationTask& task) {
  std::vector<std::string> whats;
  std::vector<std::string> sources;
  std::size_t kernels = 0;
  for (const Measurement& measurement : task.measurements) {
    if (measurement.role != hardware::ObservationRole::fit) continue;
    if (std::holds_alternative<KernelTime>(measurement.of))
      ++kernels;
    else
      whats.push_back(measurement.what);
    if (std::ranges::find(sources, measurement.source) == sources.end())
      sources.push_back(measurement.source);
  }
  if (kernels > 0) whats.push_back(fmt::format("{} measured kernels", kernels));
  return fmt::format("{} ({})", fmt::join(whats, "; "), fmt::join(sources, "; "));
}

hardware::Parameter fitted_parameter(const FittedParameter& found,
                                     const std::string& observations) {
  hardware::Parameter parameter;
  parameter.provenance = hardware::Provenance::calibrated;
  parameter.source = fmt::format("fitted to {}", observations);
  parameter.value = found.value;
  if (found.standard_error) {
    parameter.value = rounded(*found.info, found.value, *found.standard_error);
    parameter.standard_error = rounded(*found.info, *found.standard_error, *found.standard_error);
    return parameter;
  }
  parameter.source += "; fixed at its limit, the unconstrained optimum is beyond it";
  // Range: two standard errors from the limit, downwards for ratios at 1.
  const double width = 2.0 * found.error_beyond;
  if (width <= 0.0) return parameter;
  const bool is_upper = found.info->kind == hardware::ParameterKind::ratio && found.value == 1.0;
  const double other = is_upper ? std::max(1.0 - width, 0.001) : found.value + width;
  const double end = rounded(*found.info, other, width);
  if (end != found.value)
    parameter.range = {.low = std::min(end, found.value), .high = std::max(end, found.value)};
  return parameter;
}

}  // namespace

double rounded(const hardware::ParameterInfo& info, double value, double standard_error) {
  constexpr int kMoreDigits = 3;  // beyond the leading digit of the standard error
  constexpr int kMostDigits = 15;
  if (value == 0.0) return 0.0;
  const double ratio = std::abs(value) / standard_error;
  const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(ratio))) + kMoreDigits,
                                kMoreDigits, kMostDigits);
  if (info.kind == hardware::ParameterKind::ratio)
    return std::min(1.0, std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr));
  // Rounds in the printed unit.
  const std::string text = units::format(value, info.dimension);
  const std::size_t space = text.find(' ');
  return units::parse(
      fmt::format("{:.{}g}{}", std::strtod(text.c_str(), nullptr), digits, text.substr(space)),
      info.dimension);
}

hardware::Chip calibrated_chip(const CalibrationTask& task, const CalibrationResult& result) {
  constexpr double kCorrelationDigits = 1e6;
  hardware::Chip chip = task.chip;
  hardware::Calibration calibration;
  calibration.observations = observations_of(task, result);
  const std::string observations = observations_text(task);
  for (const FittedParameter& found : result.parameters)
    chip.*found.info->member = fitted_parameter(found, observations);
  for (const hardware::ParameterInfo* info : result.correlated)
    calibration.parameters.emplace_back(info->key);
  for (const double correlation : result.correlation)  // 0.0 + x avoids -0
    calibration.correlation.push_back(0.0 + std::round(correlation * kCorrelationDigits) /
                                                kCorrelationDigits);
  chip.calibration.reset();
  if (!calibration.parameters.empty()) chip.calibration = std::move(calibration);
  return chip;
}

}  // namespace equarx::calibrate
