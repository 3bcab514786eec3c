#include "experiments/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "experiments/calibrate/least_squares.hpp"
#include "experiments/calibrate/linear_algebra.hpp"
#include "experiments/calibrate/simulated_rows.hpp"

namespace equarx::calibrate {
namespace {

using hardware::ObservationRole;
using Matrix = std::vector<double>;  // row-major

std::vector<std::size_t> fit_rows(const CalibrationTask& task) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < task.measurements.size(); ++i)
    if (task.measurements[i].role == ObservationRole::fit) rows.push_back(i);
  return rows;
}

Targets targets_of(const CalibrationTask& task, const std::vector<std::size_t>& rows) {
  Targets targets;
  for (const std::size_t row : rows) {
    targets.values.push_back(task.measurements[row].measured);
    targets.standard_errors.push_back(task.measurements[row].standard_error);
  }
  return targets;
}

/// Selected rows and `count` columns from `first`, each row divided by its standard error.
Jacobian weighted(const Jacobian& all, const CalibrationTask& task,
                  const std::vector<std::size_t>& rows, std::size_t first, std::size_t count) {
  Jacobian part{rows.size(), count, {}};
  for (const std::size_t row : rows)
    for (std::size_t j = first; j < first + count; ++j)
      part.entries.push_back(all(row, j) / task.measurements[row].standard_error);
  return part;
}

void check_dependence(const UnlimitedModel& model, const Targets& targets, const Point& start,
                      const CalibrationTask& task) {
  constexpr double kLeast = 1e-6;  // standard errors; far above rounding errors of times
  const Jacobian jacobian = model.jacobian(start);
  for (std::size_t j = 0; j < task.fit.size(); ++j) {
    double largest = 0.0;
    for (std::size_t i = 0; i < jacobian.outputs; ++i)
      largest = std::max(
          largest, std::abs(jacobian(i, j)) * model.limits()[j].scale / targets.standard_errors[i]);
    if (largest < kLeast)
      throw input::InputError(
          input::pointer("/fit", j),
          fmt::format("no measurement to fit depends on {}; leave it out, or add one that does",
                      task.fit[j]->key));
  }
}

/// Largest change along a combination that changes no row by more than kUnnoticed and no parameter
/// by more than its scale.
std::vector<ParameterChange> unnoticed_changes(
    const Jacobian& jacobian, const std::vector<double>& combination,
    const std::vector<const hardware::ParameterInfo*>& infos,
    const std::vector<ParameterLimits>& limits) {
  double per_row = 0.0;
  for (std::size_t i = 0; i < jacobian.outputs; ++i) {
    double change = 0.0;
    for (std::size_t j = 0; j < infos.size(); ++j) change += jacobian(i, j) * combination[j];
    per_row = std::max(per_row, std::abs(change));
  }
  double most = kUnnoticed / per_row;
  for (std::size_t j = 0; j < infos.size(); ++j)
    most = std::min(most, limits[j].scale / std::abs(combination[j]));
  std::vector<ParameterChange> changes;
  for (std::size_t j = 0; j < infos.size(); ++j)
    if (const double by = combination[j] * most; std::abs(by) > 1e-3 * limits[j].scale)
      changes.push_back({infos[j], by});
  if (!changes.empty() && changes.front().by < 0.0)
    for (ParameterChange& change : changes) change.by = -change.by;
  return changes;
}

/// Joint covariance of fitted and given parameters. Given parameters are independent of each other
/// and of the measurement errors. Sensitivity of fitted to given: S = -C J^T J_given, J weighted.
Matrix joint_covariance(const Matrix& of_data, const Jacobian& fitted, const Jacobian& given,
                        const std::vector<double>& uncertainties) {
  const std::size_t p = fitted.parameters;
  const std::size_t n = p + given.parameters;
  Matrix follows(p * given.parameters);
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t g = 0; g < given.parameters; ++g)
      for (std::size_t k = 0; k < p; ++k)
        for (std::size_t row = 0; row < fitted.outputs; ++row)
          follows[i * given.parameters + g] -= of_data[i * p + k] * fitted(row, k) * given(row, g);
  Matrix joint(n * n);
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t j = 0; j < p; ++j) joint[i * n + j] = of_data[i * p + j];
  for (std::size_t g = 0; g < given.parameters; ++g) {
    const double variance = uncertainties[g] * uncertainties[g];
    joint[(p + g) * n + p + g] = variance;
    for (std::size_t i = 0; i < p; ++i) {
      const double covariance = follows[i * given.parameters + g] * variance;
      joint[i * n + p + g] = joint[(p + g) * n + i] = covariance;
      for (std::size_t j = 0; j < p; ++j)
        joint[i * n + j] += covariance * follows[j * given.parameters + g];
    }
  }
  return joint;
}

double model_error(const Jacobian& jacobian, std::size_t row, const Matrix& covariance) {
  const std::size_t n = jacobian.parameters;
  double variance = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      variance += jacobian(row, i) * covariance[i * n + j] * jacobian(row, j);
  return std::sqrt(std::max(0.0, variance));
}

/// Computes standard errors, correlations and residuals of a fit.
class Assessment {
 public:
  Assessment(const CalibrationTask& task, const Fit& fit, CalibrationResult& result)
      : task_(task), result_(result), varied_{task.chip, {}} {
    for (std::size_t i = 0; i < task.fit.size(); ++i) {
      (varied_.chip.*task.fit[i]->member).value = fit.point[i];
      if (!fit.at_limit[i]) varied_.parameters.push_back(task.fit[i]);
    }
    fitted_ = varied_.parameters.size();
    for (const hardware::ParameterInfo* info : task.given) varied_.parameters.push_back(info);
  }

  void run() {
    std::vector<std::size_t> all(task_.measurements.size());
    std::iota(all.begin(), all.end(), 0);
    const UnlimitedModel model(simulated_rows(task_, all, varied_), limits());
    const Point point = varied_.point();
    const Outputs simulated = model({point}).front();
    const Jacobian jacobian = model.jacobian(point);
    const Matrix covariance = find_covariance(jacobian, model.limits());
    const std::size_t n = varied_.parameters.size();
    for (std::size_t i = 0; i < fitted_; ++i)
      std::ranges::find(result_.parameters, varied_.parameters[i], &FittedParameter::info)
          ->standard_error = std::sqrt(covariance[i * n + i]);
    result_.correlated = varied_.parameters;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        result_.correlation.push_back(
            i == j
                ? 1.0
                : covariance[i * n + j] / std::sqrt(covariance[i * n + i] * covariance[j * n + j]));
    for (const std::size_t row : all)
      result_.rows.push_back({simulated[row], model_error(jacobian, row, covariance)});
  }

 private:
  /// Differences with respect to given parameters span one standard uncertainty to either side:
  /// times have kinks where the bottleneck changes between core and link, so the average slope over
  /// the plausible range is needed.
  std::vector<ParameterLimits> limits() const {
    std::vector<ParameterLimits> limits = varied_.limits();
    for (std::size_t i = fitted_; i < limits.size(); ++i)
      limits[i].scale =
          *standard_uncertainty(task_.chip.*varied_.parameters[i]->member) / kRelativeStep;
    return limits;
  }

  Matrix find_covariance(const Jacobian& jacobian, const std::vector<ParameterLimits>& limits) {
    const std::vector<std::size_t> rows = fit_rows(task_);
    const Jacobian fitted = weighted(jacobian, task_, rows, 0, fitted_);
    const Jacobian given = weighted(jacobian, task_, rows, fitted_, task_.given.size());
    std::vector<double> uncertainties;
    for (const hardware::ParameterInfo* info : task_.given)
      uncertainties.push_back(*standard_uncertainty(task_.chip.*info->member));
    if (fitted_ == 0) return joint_covariance({}, fitted, given, uncertainties);
    const Decomposition parts = decompose(fitted);
    find_weak(parts, fitted, limits);
    const std::optional<Matrix> of_data = covariance(parts);
    if (!of_data)
      throw input::InputError(
          "/fit",
          fmt::format("the measurements cannot separate parameters: {} change no fitted row; "
                      "fit only one of them, or add a measurement that separates them",
                      describe(result_.weak.back().changes)));
    return joint_covariance(*of_data, fitted, given, uncertainties);
  }

  void find_weak(const Decomposition& parts, const Jacobian& fitted,
                 const std::vector<ParameterLimits>& limits) {
    const std::vector<const hardware::ParameterInfo*> infos(
        varied_.parameters.begin(),
        varied_.parameters.begin() + static_cast<std::ptrdiff_t>(fitted_));
    for (std::size_t k = 0; k < fitted_; ++k) {
      result_.condition_indices.push_back(parts.condition_index(k));
      if (result_.condition_indices.back() < kWeakConditionIndex) continue;
      result_.weak.push_back({result_.condition_indices.back(),
                              unnoticed_changes(fitted, parts.combinations[k], infos, limits)});
    }
  }

  const CalibrationTask& task_;
  CalibrationResult& result_;
  VariedChip varied_;  ///< fitted parameters not at a limit, then given ones
  std::size_t fitted_ = 0;
};

}  // namespace

CalibrationResult calibrate(const CalibrationTask& task, const CalibrationProgress& progress) {
  const std::vector<std::size_t> rows = fit_rows(task);
  const VariedChip varied{task.chip, task.fit};
  const UnlimitedModel model(simulated_rows(task, rows, varied), varied.limits());
  const Targets targets = targets_of(task, rows);
  const Point start = varied.point();
  progress("computing sensitivities");
  check_dependence(model, targets, start, task);
  const Fit found = fit(model, targets, start, [&](std::size_t iteration, double chi_squared) {
    progress(fmt::format("iteration {}: chi^2 {:.4g}", iteration, chi_squared));
  });
  CalibrationResult result;
  result.chi_squared = found.chi_squared;
  result.iterations = found.iterations;
  result.converged = found.converged;
  for (std::size_t i = 0; i < task.fit.size(); ++i)
    result.parameters.push_back(
        {task.fit[i], start[i], found.point[i], std::nullopt, found.error_beyond[i]});
  const auto at_limit = static_cast<std::size_t>(std::ranges::count(found.at_limit, true));
  result.degrees_of_freedom = rows.size() - (task.fit.size() - at_limit);
  result.probability = chi_squared_tail(result.chi_squared, result.degrees_of_freedom);
  progress("computing standard errors");
  Assessment(task, found, result).run();
  return result;
}

std::string describe(const std::vector<ParameterChange>& changes) {
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [info, by] = changes[i];
    const std::string amount = info->kind == hardware::ParameterKind::quantity
                                   ? units::format_short(std::abs(by), info->dimension)
                                   : fmt::format("{:.3g}", std::abs(by));
    text += fmt::format("{}{} {} by {}",
                        i == 0                    ? ""
                        : i + 1 == changes.size() ? " and "
                                                  : ", ",
                        info->key, by > 0.0 ? "up" : "down", amount);
  }
  return text;
}

}  // namespace equarx::calibrate
