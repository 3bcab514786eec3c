#include "experiments/advise/turning_points.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/run/other_chip.hpp"
#include "experiments/run/sensitivity.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::advise {
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
  GainAlong(const plan::Plan& plan, const hardware::ParameterInfo& info)
      : plan_(plan), info_(info) {}

  std::optional<double> at(double factor) const {
    hardware::Chip chip = plan_.config.chip;
    (chip.*info_.member).value *= factor;
    try {
      const std::vector<run::Timing> timings = run::time_on(plan_, chip);
      if (timings.empty()) return std::nullopt;
      return std::log(timings.back().speedup);
    } catch (const input::InputError&) {  // infeasible on that chip
      return std::nullopt;
    }
  }

  /// Largest admissible factor on the parameter.
  double most() const {
    const double value = (plan_.config.chip.*info_.member).value;
    return info_.kind == hardware::ParameterKind::ratio ? std::min(kMostFactor, 1.0 / value)
                                                        : kMostFactor;
  }

 private:
  const plan::Plan& plan_;
  const hardware::ParameterInfo& info_;
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

}  // namespace

std::vector<TurningPoint> find_turning_points(const run::ExperimentResult& compared) {
  const std::vector<run::Sensitivity> sensitivities = run::find_sensitivities(compared, 0);
  if (sensitivities.empty()) return {};
  const plan::Plan plan = run::for_other_chips(compared);
  const double gain = std::log(*compared.runs.back().speedup);
  const std::size_t count = std::min(sensitivities.size(), kMostExamined);
  std::vector<std::optional<TurningPoint>> found(count);
  run::for_each_chip(plan, count, 0, [&](std::size_t i) {
    const run::Sensitivity& one = sensitivities[i];
    const double slope = one.runs.back().speedup;
    if (slope == 0.0) return;
    const GainAlong along(plan, *hardware::find_parameter(one.parameter));
    const bool grows = (slope > 0.0) != (gain > 0.0);
    const auto factor = turning_factor(along, gain, grows ? along.most() : 1.0 / kMostFactor);
    if (factor) found[i] = TurningPoint{one.parameter, one.value, one.value * *factor};
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

}  // namespace equarx::advise
