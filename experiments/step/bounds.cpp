#include "experiments/step/bounds.hpp"

#include <algorithm>
#include <map>
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

/// Core time of each list of the timelines in s, which several chips may share.
std::vector<double> core_times(const sim::Timelines& timelines) {
  std::vector<double> seconds;
  for (const std::vector<sim::Step>& list : timelines.lists) {
    double& sum_s = seconds.emplace_back(0.0);
    for (const sim::Step& step : list)
      if (step.kind != sim::Step::Kind::host) sum_s += step.delay_s + step.overlapped_s;
  }
  return seconds;
}

/// Core time of all streams of a chip. `list_s`: core_times()
double core_time_s(const sim::Timelines& timelines, const sim::Machine& machine,
                   const std::vector<double>& list_s, collectives::Rank rank) {
  double seconds = 0.0;
  for (std::uint32_t stream = 0; stream < timelines.streams; ++stream)
    seconds += list_s[timelines.list_of[rank * timelines.streams + stream]];
  return seconds * machine.slowdown_of(rank);
}

/// Bytes of one list of the timelines.
struct ListBytes {
  std::map<collectives::ChannelId, std::uint64_t> sent;  ///< by channel
  std::uint64_t hbm = 0;
};

std::vector<ListBytes> bytes_of_lists(const sim::Timelines& timelines) {
  std::vector<ListBytes> lists;
  for (const std::vector<sim::Step>& list : timelines.lists) {
    ListBytes& bytes = lists.emplace_back();
    for (const sim::Step& step : list) {
      if (step.kind == sim::Step::Kind::send) bytes.sent[step.number] += step.bytes;
      bytes.hbm += step.hbm_bytes;
    }
  }
  return lists;
}

}  // namespace

std::vector<std::uint64_t> link_bytes(const sim::Timelines& timelines,
                                      const sim::Machine& machine) {
  const std::vector<ListBytes> lists = bytes_of_lists(timelines);
  std::vector<std::uint64_t> bytes(machine.links.size());
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::uint32_t stream = 0; stream < timelines.streams; ++stream) {
      const ListBytes& list = lists[timelines.list_of[rank * timelines.streams + stream]];
      for (const auto& [channel, sent] : list.sent)
        for (const sim::LinkIndex link : machine.out_ports[rank][channel].route)
          bytes[link] += sent;
      if (list.hbm > 0) bytes[machine.hbm[rank]] += list.hbm;
    }
  return bytes;
}

double lower_bound_s(const StepPlan& plan, const VariantPlan& variant,
                     const sim::Timelines& timelines, const std::vector<std::uint64_t>& bytes) {
  const sim::Machine& machine = variant.machine;
  double bound_s = longest_path_s(plan.config.graph, min_times(plan, variant));
  const std::vector<double> list_s = core_times(timelines);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    bound_s = std::max(bound_s, core_time_s(timelines, machine, list_s, rank));
  for (std::size_t link = 0; link < bytes.size(); ++link)
    bound_s = std::max(bound_s, static_cast<double>(bytes[link]) / machine.links[link].rate);
  return bound_s;
}

}  // namespace equarx::step
