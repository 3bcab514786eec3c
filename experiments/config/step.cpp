#include "experiments/config/step.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {

namespace {

/// The last mesh axes whose product is `chips`; `chips` alone if there are none.
std::vector<std::uint32_t> divided(std::uint32_t chips, const std::vector<std::uint32_t>& mesh) {
  std::vector<std::uint32_t> lengths;
  std::uint64_t product = 1;
  for (std::size_t i = mesh.size(); i-- > 0 && product < chips;) {
    product *= mesh[i];
    if (mesh[i] > 1) lengths.insert(lengths.begin(), mesh[i]);
  }
  return product == chips ? lengths : std::vector<std::uint32_t>{chips};
}

}  // namespace

std::vector<std::uint32_t> machine_axes(const TopologyConfig& topology,
                                        const std::vector<std::uint32_t>& mesh) {
  std::vector<std::uint32_t> lengths;
  if (topology.network) lengths.push_back(topology.network->slices);
  std::vector<std::uint32_t> within = {count_chips_of_slice(topology)};
  if (is_grid(topology)) within = topology.shape.lengths;
  if (joins_all_alike(topology)) within = divided(topology.chips, mesh);
  lengths.insert(lengths.end(), within.begin(), within.end());
  return lengths;
}

TopologyConfig group_topology(const TopologyConfig& topology,
                              const std::vector<std::uint32_t>& machine,
                              const std::vector<std::size_t>& axes) {
  TopologyConfig group = topology;
  group.planned = nullptr;
  const std::size_t first = topology.network ? 1 : 0;  // first axis within a slice
  if (topology.network && std::ranges::find(axes, 0U) == axes.end()) group.network.reset();
  const bool within = std::ranges::any_of(axes, [&](std::size_t axis) { return axis >= first; });
  if (joins_all_alike(topology) && within) {
    group.chips = 1;
    for (const std::size_t axis : axes)
      if (axis >= first) group.chips *= machine[axis];
    if (group.network && group.chips < topology.chips) group.network->chips_per_port = 1;
  }
  if (!is_grid(topology) && within) return group;
  group.kind = is_grid(topology) ? topology.kind : TopologyKind::mesh;
  group.shape = {};
  for (const std::size_t axis : axes) {
    if (axis < first) continue;
    group.shape.lengths.push_back(topology.shape.lengths[axis - first]);
    group.shape.wraparound.push_back(topology.shape.wraparound[axis - first]);
  }
  if (!within) {  // one chip of each slice
    group.shape = {{1}, {false}};
    if (group.network) group.network->chips_per_port = 1;
  }
  return group;
}

TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const steps::CollectiveCall& call) {
  if (!call.groups) return group_topology(topology, mesh.machine, mesh.machine_axes(call.axes));
  TopologyConfig group;
  const bool on_switch = topology.kind == TopologyKind::on_switch && !topology.network;
  group.kind = on_switch ? TopologyKind::on_switch : TopologyKind::fully_connected;
  group.chips = call.groups->size;
  return group;
}

Algorithm usual_algorithm(collectives::Collective collective, const TopologyConfig& group) {
  constexpr std::array kPreferred = {"hierarchical", "hierarchical-two-shot", "torus", "two-shot",
                                     "direct"};
  const bool on_levels = group.network && count_chips_of_slice(group) > 1;
  for (const char* const name : kPreferred) {
    const Algorithm algorithm = collectives::find_algorithm(name);
    const collectives::RankLayout layout = algorithm->layout;
    if (!algorithm->does(collective)) continue;
    if (collectives::is_of_slices(layout) != on_levels) continue;
    const bool on_axes = layout == collectives::RankLayout::grid ||
                         layout == collectives::RankLayout::slices_of_grids;
    if (on_axes && (!is_grid(group) || count_chips_of_slice(group) == 1)) continue;
    return algorithm;
  }
  // direct exchange between all chips, across a network as well
  return collectives::find_algorithm("direct");
}

std::vector<StepCall> distinct_calls(const steps::StepGraph& graph) {
  std::vector<StepCall> calls;
  for (const steps::Task& task : graph.tasks) {
    const auto* call = std::get_if<steps::CollectiveCall>(&task.work);
    if (call == nullptr) continue;
    const StepCall of_group{task.group, *call};
    if (std::ranges::find(calls, of_group) == calls.end()) calls.push_back(of_group);
  }
  return calls;
}

std::vector<steps::Permute> distinct_permutes(const steps::StepGraph& graph) {
  std::vector<steps::Permute> permutes;
  for (const steps::Task& task : graph.tasks) {
    const auto* permute = std::get_if<steps::Permute>(&task.work);
    if (permute == nullptr || std::ranges::find(permutes, *permute) != permutes.end()) continue;
    permutes.push_back(*permute);
  }
  return permutes;
}

std::optional<std::size_t> permute_of(const steps::Task& task,
                                      const std::vector<steps::Permute>& permutes) {
  const auto* permute = std::get_if<steps::Permute>(&task.work);
  if (permute == nullptr) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(permutes, *permute) - permutes.begin());
}

std::optional<std::size_t> call_of(const steps::Task& task, const std::vector<StepCall>& calls) {
  const auto* call = std::get_if<steps::CollectiveCall>(&task.work);
  if (call == nullptr) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(calls, StepCall{task.group, *call}) -
                                  calls.begin());
}

std::vector<std::uint32_t> tasks_of_calls(const StepConfig& config) {
  std::vector<std::uint32_t> tasks(config.calls.size());
  for (const steps::Task& task : config.graph.tasks)
    if (const auto call = call_of(task, config.calls)) ++tasks[*call];
  return tasks;
}

}  // namespace equarx::config
