#include "experiments/step/bounds.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "experiments/config/task_index.hpp"
#include "models/steps/roles.hpp"

namespace equarx::step {
namespace {

/// Minimum time by task, valid for every chip that runs it. 0 for permutes, listed groups and groups
/// of a given order, which may take long on some chips only; their link bytes are bounded separately.
std::vector<double> min_times(const StepPlan& plan, const VariantPlan& variant) {
  const steps::StepGraph& graph = plan.config.graph;
  std::vector<double> seconds = plan.core_s;
  std::map<const PlannedCall*, double> bounds_s;
  const config::TaskIndex index(plan.config);
  for (steps::TaskId id = 0; id < graph.tasks.size(); ++id) {
    if (const auto call = index.call_of(graph.tasks[id])) {
      if (plan.config.calls[*call].call.groups || !plan.config.mesh.order.empty()) continue;
      if (variant.kind.skips(*call)) continue;
      const auto [known, is_new] = bounds_s.try_emplace(variant.calls[*call].get());
      const plan::CollectivePlan& collective = known->first->plan;
      if (is_new)
        known->second = sim::lower_bound_s(collective.program, collective.simulated.machine(),
                                           collective.costs);
      seconds[id] = known->second;
    } else if (const auto* transfer = std::get_if<steps::HostTransfer>(&graph.tasks[id].work)) {
      seconds[id] = transfer->bytes / plan.config.machine.chip.host_bandwidth.value;
    }
  }
  return seconds;
}

}  // namespace

double longest_path_s(const config::StepConfig& config, const std::vector<double>& seconds) {
  const steps::Roles roles(config.graph, config.mesh.chips());
  return steps::longest_path_s(config.graph, roles, seconds);
}

double lower_bound_s(const StepPlan& plan, const VariantPlan& variant, const StepTotals& totals) {
  const sim::Machine& machine = variant.machine;
  double bound_s = longest_path_s(plan.config, min_times(plan, variant));
  bound_s = std::max(bound_s, std::ranges::max(totals.core_s));
  for (std::size_t link = 0; link < totals.link_bytes.size(); ++link)
    bound_s =
        std::max(bound_s, static_cast<double>(totals.link_bytes[link]) / machine.links[link].rate);
  return bound_s;
}

}  // namespace equarx::step
