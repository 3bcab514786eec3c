#include "models/steps/chakra_traces.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace equarx::steps {
namespace {

using Axes = std::vector<std::size_t>;
using GroupNames = std::map<Axes, std::vector<std::string>>;  // by group of each chip

constexpr const char* kVersion = "0.0.4";

/// Number of a chip's group among those along axes: its places along all others.
std::uint32_t group_number(const Mesh& mesh, const Axes& axes, std::uint32_t chip) {
  std::uint32_t number = 0;
  std::uint32_t behind = mesh.chips();
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    behind /= mesh.axes[axis].length;
    const std::uint32_t place = chip / behind % mesh.axes[axis].length;
    if (std::ranges::find(axes, axis) == axes.end())
      number = number * mesh.axes[axis].length + place;
  }
  return number;
}

/// Of all groups of the step but those of all chips, numbered from 1.
GroupNames names_of_groups(const StepGraph& graph, const Mesh& mesh) {
  GroupNames names;
  std::uint32_t next = 1;
  for (const Task& task : graph.tasks) {
    const auto* call = std::get_if<CollectiveCall>(&task.work);
    if (call == nullptr || names.contains(call->axes)) continue;
    const std::uint32_t groups = mesh.chips() / mesh.group_size(call->axes);
    if (groups == 1) continue;
    std::vector<std::string>& of_axes = names[call->axes];
    for (std::uint32_t group = 0; group < groups; ++group)
      of_axes.push_back(std::to_string(next++));
  }
  return names;
}

chakra::CollectiveKind kind_of(collectives::Collective collective) {
  using collectives::Collective;
  switch (collective) {
    case Collective::all_reduce: return chakra::CollectiveKind::all_reduce;
    case Collective::reduce_scatter: return chakra::CollectiveKind::reduce_scatter;
    case Collective::all_gather: return chakra::CollectiveKind::all_gather;
    case Collective::all_to_all: return chakra::CollectiveKind::all_to_all;
    case Collective::broadcast: return chakra::CollectiveKind::broadcast;
  }
  throw std::logic_error("unknown collective");
}

void describe(const Computation& work, double core_s, chakra::Node& node) {
  node.kind = chakra::NodeKind::compute;
  node.duration_s = core_s;
  for (const workloads::Operation& operation : work.operations) {
    node.operations += operation.flops * static_cast<double>(operation.times);
    node.bytes += operation.hbm_bytes() * static_cast<double>(operation.times);
  }
}

void describe(const HostTransfer& work, chakra::Node& node) {
  const bool out = work.direction == HostTransfer::Direction::to_host;
  node.kind = out ? chakra::NodeKind::store : chakra::NodeKind::load;
  node.bytes = work.bytes;
}

void describe(const CollectiveCall& call, const Mesh& mesh, chakra::Node& node) {
  constexpr double kBitsOfByte = 8.0;
  node.kind = chakra::NodeKind::collective;
  node.collective = kind_of(call.collective);
  node.bytes = static_cast<double>(call.elements) *
               static_cast<double>(numerics::element_bits(call.dtype)) / kBitsOfByte;
  if (call.collective == collectives::Collective::all_gather)
    node.bytes /= mesh.group_size(call.axes);
}

}  // namespace

ChakraGroups chakra_groups(const StepGraph& graph, const Mesh& mesh) {
  ChakraGroups groups;
  for (const auto& [axes, names] : names_of_groups(graph, mesh))
    for (std::uint32_t chip = 0; chip < mesh.chips(); ++chip)
      groups[names[group_number(mesh, axes, chip)]].push_back(chip);
  return groups;
}

chakra::Trace chakra_trace(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
                           std::uint32_t chip) {
  const GroupNames names = names_of_groups(graph, mesh);
  const std::vector<std::vector<TaskId>> before = predecessors(graph);
  chakra::Trace trace{.version = kVersion, .nodes = {}};
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    chakra::Node node{.id = i, .name = task.name};
    for (const TaskId id : before[i])
      if (std::ranges::find(node.after, id) == node.after.end()) node.after.push_back(id);
    if (const auto* work = std::get_if<Computation>(&task.work)) describe(*work, core_s[i], node);
    if (const auto* work = std::get_if<HostTransfer>(&task.work)) describe(*work, node);
    if (const auto* call = std::get_if<CollectiveCall>(&task.work)) {
      describe(*call, mesh, node);
      const auto found = names.find(call->axes);
      if (found != names.end()) node.group = found->second[group_number(mesh, call->axes, chip)];
    }
    trace.nodes.push_back(std::move(node));
  }
  return trace;
}

}  // namespace equarx::steps
