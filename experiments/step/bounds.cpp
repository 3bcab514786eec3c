#include "experiments/step/bounds.hpp"

#include <algorithm>
#include <variant>

namespace equarx::step {
namespace {

/// Minimum time by task, valid for every chip. 0 for permutes and listed groups, which may take
/// long on some chips only; their link bytes are bounded separately.
std::vector<double> min_times(const StepPlan& plan, const VariantPlan& variant) {
  const steps::StepGraph& graph = plan.config.graph;
  std::vector<double> seconds = plan.core_s;
  for (steps::TaskId id = 0; id < graph.tasks.size(); ++id) {
    if (const auto call = config::call_of(graph.tasks[id], plan.config.calls)) {
      if (plan.config.calls[*call].call.groups) continue;
      const plan::CollectivePlan& collective = variant.calls[*call]->plan;
      seconds[id] =
          sim::lower_bound_s(collective.program, collective.simulated.machine, collective.costs);
    } else if (const auto* transfer = std::get_if<steps::HostTransfer>(&graph.tasks[id].work)) {
      seconds[id] = transfer->bytes / plan.config.machine.chip.host_bandwidth.value;
    }
  }
  return seconds;
}

/// Core time of all streams of a chip.
double core_time_s(const sim::Timelines& timelines, const sim::Machine& machine,
                   collectives::Rank rank) {
  double seconds = 0.0;
  for (std::uint32_t stream = 0; stream < timelines.streams; ++stream)
    for (const sim::Step& step : timelines.of(rank, stream))
      if (step.kind != sim::Step::Kind::host) seconds += step.delay_s + step.overlapped_s;
  return seconds * machine.slowdown_of(rank);
}

}  // namespace

std::vector<std::uint64_t> link_bytes(const sim::Timelines& timelines,
                                      const sim::Machine& machine) {
  std::vector<std::uint64_t> bytes(machine.links.size());
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::uint32_t stream = 0; stream < timelines.streams; ++stream)
      for (const sim::Step& step : timelines.of(rank, stream)) {
        if (step.kind == sim::Step::Kind::send)
          for (const sim::LinkIndex link : machine.out_ports[rank][step.number].route)
            bytes[link] += step.bytes;
        if (step.hbm_bytes > 0) bytes[machine.hbm[rank]] += step.hbm_bytes;
      }
  return bytes;
}

double lower_bound_s(const StepPlan& plan, const VariantPlan& variant,
                     const sim::Timelines& timelines, const std::vector<std::uint64_t>& bytes) {
  const sim::Machine& machine = variant.machine;
  double bound_s = longest_path_s(plan.config.graph, min_times(plan, variant));
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    bound_s = std::max(bound_s, core_time_s(timelines, machine, rank));
  for (std::size_t link = 0; link < bytes.size(); ++link)
    bound_s = std::max(bound_s, static_cast<double>(bytes[link]) / machine.links[link].rate);
  return bound_s;
}

}  // namespace equarx::step
