#include "experiments/calibrate/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "experiments/calibrate/kernel_groups.hpp"

namespace equarx::calibrate {
namespace {

std::string text_of(const hardware::ParameterInfo& info, double value) {
  return info.kind == hardware::ParameterKind::quantity ? units::format_short(value, info.dimension)
                                                        : fmt::format("{:.4g}", value);
}

std::string text_of(const Measurement& measurement, double value) {
  return units::format_short(value, measurement.dimension);
}

double residual(const Measurement& measurement, const CalibrationRow& row) {
  return (row.simulated - measurement.measured) / measurement.standard_error;
}

/// Residual in combined standard errors of measurement and model; for measurements not fitted.
double combined_residual(const Measurement& measurement, const CalibrationRow& row) {
  return (row.simulated - measurement.measured) /
         std::hypot(measurement.standard_error, row.model_error);
}

std::string parameters_table(const CalibrationResult& result) {
  std::vector<output::TableRow> rows = {{"parameter", "start", "fitted", "std. error"}};
  for (const FittedParameter& found : result.parameters)
    rows.push_back({std::string(found.info->key), text_of(*found.info, found.start),
                    text_of(*found.info, found.value),
                    found.at_limit() ? "at limit" : text_of(*found.info, *found.standard_error)});
  return output::aligned_table(rows);
}

std::string correlation_table(const CalibrationResult& result) {
  std::vector<std::string> keys;
  for (const hardware::ParameterInfo* info : result.correlated) keys.emplace_back(info->key);
  return output::correlation_table(keys, result.correlation);
}

std::string rows_table(const CalibrationTask& task, const CalibrationResult& result) {
  std::vector<output::TableRow> rows = {{"measurement", "role", "measured", "std. error",
                                         "simulated", "std. error", "residual", "combined"}};
  for (std::size_t i = 0; i < task.measurements.size(); ++i) {
    const Measurement& measurement = task.measurements[i];
    if (std::holds_alternative<KernelTime>(measurement.of)) continue;
    const CalibrationRow& row = result.rows[i];
    const bool is_check = measurement.role == hardware::ObservationRole::check;
    rows.push_back({measurement.what, std::string(name(measurement.role)),
                    text_of(measurement, measurement.measured),
                    text_of(measurement, measurement.standard_error),
                    text_of(measurement, row.simulated), text_of(measurement, row.model_error),
                    fmt::format("{:+.2f}", residual(measurement, row)),
                    is_check ? fmt::format("{:+.2f}", combined_residual(measurement, row)) : "-"});
  }
  if (rows.size() == 1) return "";
  return output::aligned_table(rows) +
         "\n  residual: (simulated - measured) in standard errors of the measurement; combined: in "
         "those of measurement and model.";
}

/// Kernels by kind; empty without lists of kernels.
std::string kernels_table(const CalibrationTask& task, const CalibrationResult& result) {
  std::vector<output::TableRow> rows = {
      {"kernel", "role", "rows", "mean", "rms error", "worst", "where"}};
  for (const KernelGroup& group : kernel_groups(task, result.rows))
    rows.push_back({group.what, std::string(name(group.role)), fmt::format("{}", group.rows),
                    fmt::format("{:.3f}x", std::exp(group.bias)),
                    fmt::format("{:.1f} %", 100.0 * std::expm1(group.rms)),
                    fmt::format("{:.2f}x", group.worst_ratio),
                    task.measurements[group.worst].place});
  if (rows.size() == 1) return "";
  return output::aligned_table(rows) +
         "\n  Ratios are simulated / measured: geometric mean, root mean square of the "
         "logarithm.\n";
}

std::vector<std::string> warnings(const CalibrationResult& result) {
  std::vector<std::string> lines;
  if (!result.converged)
    lines.push_back(
        fmt::format("the fit did not converge within {} iterations", result.iterations));
  if (result.probability < kHopelessProbability)
    lines.emplace_back(
        "the fit does not explain the measurements: the probability of such a chi^2 is below "
        "0.001; "
        "another parameter matters, or the standard errors are too small");
  for (const WeakCombination& weak : result.weak)
    lines.push_back(
        fmt::format("weakly identified: {} change no fitted row by more than {} standard errors "
                    "(condition index {:.0f})",
                    describe(weak.changes), kUnnoticed, weak.condition_index));
  return lines;
}

}  // namespace

std::string to_table(const CalibrationTask& task, const CalibrationResult& result) {
  std::string text = fmt::format(
      "{}: {} parameters fitted to {} measurements in {} iterations\n\n{}\n", task.chip.name,
      result.parameters.size(),
      std::ranges::count(task.measurements, hardware::ObservationRole::fit, &Measurement::role),
      result.iterations, parameters_table(result));
  if (!result.correlated.empty()) text += correlation_table(result) + "\n";
  for (const std::string& table : {kernels_table(task, result), rows_table(task, result)})
    if (!table.empty()) text += table + "\n";
  text += fmt::format("  chi^2 {:.3g} with {} degrees of freedom (p = {:.2g}).\n",
                      result.chi_squared, result.degrees_of_freedom, result.probability);
  if (!result.condition_indices.empty())
    text +=
        fmt::format("  Condition index {:.1f} (from {:.0f} on: weakly identified parameters).\n",
                    result.condition_indices.back(), kWeakConditionIndex);
  for (const std::string& warning : warnings(result))
    text += fmt::format("  Warning: {}.\n", warning);
  return text;
}

input::Json to_json(const CalibrationTask& task, const CalibrationResult& result) {
  input::Json json = {{"chip", task.chip.name},
                      {"parameters", input::Json::object()},
                      {"correlated", input::Json::array()},
                      {"correlation", result.correlation},
                      {"chi_squared", result.chi_squared},
                      {"degrees_of_freedom", result.degrees_of_freedom},
                      {"probability", result.probability},
                      {"iterations", result.iterations},
                      {"converged", result.converged},
                      {"condition_indices", result.condition_indices},
                      {"measurements", input::Json::array()},
                      {"warnings", warnings(result)}};
  for (const FittedParameter& found : result.parameters)
    json["parameters"][std::string(found.info->key)] = {
        {"start", found.start},
        {"value", found.value},
        {"standard_error", input::or_null(found.standard_error)},
        {"at_limit", found.at_limit()}};
  for (const hardware::ParameterInfo* info : result.correlated)
    json["correlated"].push_back(info->key);
  for (std::size_t i = 0; i < task.measurements.size(); ++i) {
    const Measurement& measurement = task.measurements[i];
    json["measurements"].push_back(
        {{"what", measurement.what},
         {"role", name(measurement.role)},
         {"measured", measurement.measured},
         {"standard_error", measurement.standard_error},
         {"simulated", result.rows[i].simulated},
         {"model_error", result.rows[i].model_error},
         {"away", residual(measurement, result.rows[i])},
         {"away_in_all", combined_residual(measurement, result.rows[i])}});
  }
  return json;
}

}  // namespace equarx::calibrate
