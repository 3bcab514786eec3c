#include "experiments/run/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/run/other_chip.hpp"

namespace equarx::run {
namespace {

/// Small enough to give a slope, and large enough despite times rounded to a picosecond.
constexpr double kStep = 0.01;

std::vector<Elasticity> slopes(const std::vector<Timing>& below, const std::vector<Timing>& above,
                               double ratio) {
  std::vector<Elasticity> slopes;
  for (std::size_t i = 0; i < below.size(); ++i)
    slopes.push_back({std::log(above[i].time_s / below[i].time_s) / std::log(ratio),
                      std::log(above[i].speedup / below[i].speedup) / std::log(ratio)});
  return slopes;
}

std::optional<Sensitivity> find_sensitivity(const plan::Plan& plan,
                                            const hardware::ParameterInfo& info) {
  const hardware::Parameter& parameter = plan.config.chip.*info.member;
  const bool reaches_one =
      info.kind == hardware::ParameterKind::ratio && parameter.value * (1.0 + kStep) > 1.0;
  const double high = reaches_one ? 1.0 / parameter.value : 1.0 + kStep;
  const double low = 1.0 - kStep;
  const auto timed_at = [&](double factor) {
    hardware::Chip chip = plan.config.chip;
    (chip.*info.member).value *= factor;
    return time_on(plan, chip);
  };
  const std::vector<Timing> below = timed_at(low);
  const std::vector<Timing> above = timed_at(high);
  if (below.empty() || above.empty()) return std::nullopt;
  const std::optional<double> error = hardware::standard_uncertainty(parameter);
  return Sensitivity{std::string(info.key), parameter.value, parameter.provenance,
                     error ? *error / parameter.value : 0.0, slopes(below, above, high / low)};
}

double largest(const Sensitivity& sensitivity) {
  double most = 0.0;
  for (const Elasticity& run : sensitivity.runs)
    most = std::max({most, std::abs(run.time), std::abs(run.speedup)});
  return most;
}

}  // namespace

std::vector<Sensitivity> find_sensitivities(const ExperimentResult& result, unsigned threads) {
  if (has_failed(result)) return {};
  const plan::Plan plan = for_other_chips(result);
  std::vector<const hardware::ParameterInfo*> varied;
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (info.kind != hardware::ParameterKind::count && (plan.config.chip.*info.member).value > 0.0)
      varied.push_back(&info);
  std::vector<std::optional<Sensitivity>> found(varied.size());
  for_each_chip(plan, varied.size(), threads,
                [&](std::size_t i) { found[i] = find_sensitivity(plan, *varied[i]); });
  std::vector<Sensitivity> sensitivities;
  for (std::optional<Sensitivity>& one : found)
    if (one) sensitivities.push_back(*std::move(one));
  std::ranges::stable_sort(sensitivities, std::ranges::greater(), largest);
  return sensitivities;
}

}  // namespace equarx::run
