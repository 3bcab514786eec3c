#include "experiments/variation/turning_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/process/parallel_for.hpp"

namespace equarx::variation {
namespace {

constexpr double kMostFactor = 16.0;
constexpr std::size_t kMostPoints = 2;
/// Number of parameters examined, most sensitive first.
constexpr std::size_t kMostExamined = 8;
/// Bisection steps; narrow a factor of 16 to one of 1.003.
constexpr int kSteps = 10;

/// log(speedup) as a function of the factor on one parameter; std::nullopt if not simulable.
class GainAlong {
 public:
  GainAlong(const Varied& runs, std::size_t run, const config::MachineParameter& parameter)
      : runs_(runs), run_(run), parameter_(parameter) {}

  std::optional<double> at(double factor) const {
    config::MachineParameters machine = runs_.machine;
    parameter_.in(machine).value *= factor;
    try {
      const std::vector<Timing> timings = runs_.time_on(machine);
      if (timings.empty()) return std::nullopt;
      return std::log(timings[run_].speedup);
    } catch (const input::InputError&) {  // infeasible on that machine
      return std::nullopt;
    }
  }

  /// Largest admissible factor on the parameter.
  double most() const {
    const double value = parameter_.in(runs_.machine).value;
    return parameter_.info->kind == hardware::ParameterKind::ratio
               ? std::min(kMostFactor, 1.0 / value)
               : kMostFactor;
  }

 private:
  const Varied& runs_;
  std::size_t run_;
  const config::MachineParameter& parameter_;
};

/// Bisects [1, far] for the factor at which the log speedup, `gain` at factor 1, changes sign.
std::optional<double> turning_factor(const GainAlong& along, double gain, double far) {
  const std::optional<double> gain_far = along.at(far);
  if (!gain_far || (*gain_far > 0.0) == (gain > 0.0)) return std::nullopt;
  double near = 0.0;  // near and beyond are logarithms
  double beyond = std::log(far);
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (near + beyond) / 2.0;
    const std::optional<double> there = along.at(std::exp(middle));
    if (!there) return std::nullopt;
    ((*there > 0.0) == (gain > 0.0) ? near : beyond) = middle;
  }
  return std::exp((near + beyond) / 2.0);
}

/// Rounded to three digits, more than the accuracy of parameters.
double rounded(double value) { return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr); }

TurningPoint point_at(const hardware::ParameterInfo& info, double value, double factor) {
  const double turns_at = value * factor;
  return {std::string(info.key), value, turns_at,
          fmt::format("{}; break-even at {}", hardware::format_value(info, value),
                      hardware::format_value(info, rounded(turns_at)))};
}

}  // namespace

std::vector<TurningPoint> find_turning_points(const Varied& runs,
                                              const std::vector<Sensitivity>& sensitivities,
                                              std::size_t run, double speedup) {
  const std::vector<config::MachineParameter> parameters = config::all_parameters(runs.machine);
  const double gain = std::log(speedup);
  const std::size_t count = std::min(sensitivities.size(), kMostExamined);
  std::vector<std::optional<TurningPoint>> found(count);
  process::parallel_for(count, runs.threads, [&](std::size_t i) {
    const Sensitivity& one = sensitivities[i];
    const double slope = one.runs[run].speedup;
    if (slope == 0.0) return;
    const auto& parameter =
        *std::ranges::find(parameters, one.parameter,
                           [](const config::MachineParameter& known) { return known.info->key; });
    const GainAlong along(runs, run, parameter);
    const bool grows = (slope > 0.0) != (gain > 0.0);
    const auto factor = turning_factor(along, gain, grows ? along.most() : 1.0 / kMostFactor);
    if (factor) found[i] = point_at(*parameter.info, one.value, *factor);
  });
  std::vector<TurningPoint> points;
  for (std::optional<TurningPoint>& one : found)
    if (one) points.push_back(*std::move(one));
  std::ranges::stable_sort(points, {}, [](const TurningPoint& point) {
    return std::abs(std::log(point.turns_at / point.value));
  });
  if (points.size() > kMostPoints) points.resize(kMostPoints);
  return points;
}

}  // namespace equarx::variation
