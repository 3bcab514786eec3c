#include "experiments/variation/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/process/parallel_for.hpp"

namespace equarx::variation {
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

std::optional<Sensitivity> find_sensitivity(const Varied& runs,
                                            const config::MachineParameter& varied) {
  const hardware::Parameter& parameter = varied.in(runs.machine);
  const bool reaches_one =
      varied.info->kind == hardware::ParameterKind::ratio && parameter.value * (1.0 + kStep) > 1.0;
  const double high = reaches_one ? 1.0 / parameter.value : 1.0 + kStep;
  const double low = 1.0 - kStep;
  const auto timed_at = [&](double factor) {
    config::MachineParameters machine = runs.machine;
    varied.in(machine).value *= factor;
    return runs.time_on(machine);
  };
  const std::vector<Timing> below = timed_at(low);
  const std::vector<Timing> above = timed_at(high);
  if (below.empty() || above.empty()) return std::nullopt;
  const std::optional<double> error = hardware::standard_uncertainty(parameter);
  return Sensitivity{std::string(varied.info->key),
                     parameter.value,
                     hardware::format_value(*varied.info, parameter.value),
                     parameter.provenance,
                     error ? *error / parameter.value : 0.0,
                     slopes(below, above, high / low)};
}

double largest(const Sensitivity& sensitivity) {
  double most = 0.0;
  for (const Elasticity& run : sensitivity.runs)
    most = std::max({most, std::abs(run.time), std::abs(run.speedup)});
  return most;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const Varied& runs) {
  std::vector<config::MachineParameter> varied;
  for (const config::MachineParameter& one : config::all_parameters(runs.machine))
    if (one.info->kind != hardware::ParameterKind::count && one.in(runs.machine).value > 0.0)
      varied.push_back(one);
  std::vector<std::optional<Sensitivity>> found(varied.size());
  process::parallel_for(varied.size(), runs.threads,
                        [&](std::size_t i) { found[i] = find_sensitivity(runs, varied[i]); });
  std::vector<Sensitivity> all;
  for (std::optional<Sensitivity>& one : found)
    if (one) all.push_back(*std::move(one));
  std::ranges::stable_sort(all, std::ranges::greater(), largest);
  return all;
}

}  // namespace equarx::variation
