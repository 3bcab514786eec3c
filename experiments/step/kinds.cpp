#include "experiments/step/kinds.hpp"

#include <algorithm>
#include <utility>

namespace equarx::step {
namespace {

/// Adds the share of a kind to the sums of `mean`. All kinds have the same groups.
void add(const SimulatedKind& kind, VariantResult& mean) {
  const double share = kind.kind.share;
  const VariantResult& one = kind.result;
  mean.time_s += share * one.time_s;
  mean.lower_bound_s += share * one.lower_bound_s;
  mean.compute_s += share * one.compute_s;
  mean.core_busy_s += share * one.core_busy_s;
  for (std::size_t stage = 0; stage < mean.stage_idle.size(); ++stage)
    mean.stage_idle[stage] += share * one.time_s * one.stage_idle[stage];
  for (GroupResult& group : mean.groups) {
    const auto found = std::ranges::find(one.groups, group.name, &GroupResult::name);
    if (found == one.groups.end()) continue;
    group.isolated_s += share * found->isolated_s;
    group.total_s += share * found->total_s;
    group.exposed_s += share * found->exposed_s;
    group.critical_s += share * found->critical_s;
  }
}

/// The first kind without its sums.
VariantResult empty_mean(const VariantResult& first) {
  VariantResult mean = first;
  mean.time_s = mean.lower_bound_s = mean.compute_s = mean.core_busy_s = 0.0;
  std::ranges::fill(mean.stage_idle, 0.0);
  for (GroupResult& group : mean.groups)
    group.isolated_s = group.total_s = group.exposed_s = group.critical_s = 0.0;
  return mean;
}

std::vector<CallOfKind> calls_of(const config::StepConfig& config, const config::StepKind& kind) {
  std::vector<CallOfKind> calls;
  for (std::size_t call = 0; call < config.calls.size(); ++call)
    if (kind.skips(call) || kind.uploads_of(call))
      calls.push_back(
          {config.calls[call].group, kind.skips(call) ? std::nullopt : kind.uploads_of(call)});
  return calls;
}

}  // namespace

VariantResult mean_of(const config::StepConfig& config, std::vector<SimulatedKind> kinds) {
  hardware::Activity activity;
  for (const SimulatedKind& one : kinds) activity += one.activity.scaled(one.kind.share);
  VariantResult mean = std::move(kinds.front().result);
  if (kinds.size() > 1) {
    kinds.front().result = mean;
    mean = empty_mean(mean);
    for (const SimulatedKind& one : kinds) {
      add(one, mean);
      mean.kinds.push_back({one.kind.share, one.result.time_s, calls_of(config, one.kind)});
    }
    for (double& idle : mean.stage_idle) idle /= mean.time_s;
  }
  mean.expenses = hardware::expenses_of(config.machine.chip, activity);
  return mean;
}

}  // namespace equarx::step
