#include "importers/chakra/chakra_traces.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/steps/chip_lists.hpp"
#include "models/steps/roles.hpp"

namespace equarx::steps {
namespace {

using Axes = std::vector<std::size_t>;
/// Groups of a collective: mesh axes, or an index of chip lists.
using Over = std::pair<Axes, std::optional<std::uint32_t>>;
using GroupNames = std::map<Over, std::vector<std::string>>;  // name of each group

constexpr const char* kVersion = "0.0.4";

/// Index of the group of a chip: its coordinates along all other axes, as a mixed-radix number.
std::uint32_t group_number(const Mesh& mesh, const Axes& axes, std::uint32_t chip) {
  std::uint32_t number = 0;
  std::uint32_t stride = mesh.chips();
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    stride /= mesh.axes[axis].length;
    const std::uint32_t coordinate = chip / stride % mesh.axes[axis].length;
    if (std::ranges::find(axes, axis) == axes.end())
      number = number * mesh.axes[axis].length + coordinate;
  }
  return number;
}

Over over(const CollectiveCall& call) {
  if (call.groups) return {{}, call.groups->lists};
  return {call.axes, std::nullopt};
}

/// Index of the listed group that contains a chip.
std::uint32_t listed_number(const ChipLists& lists, std::uint32_t chip) {
  const auto has_it = [&](const std::vector<std::uint32_t>& group) {
    return std::ranges::find(group, chip) != group.end();
  };
  return static_cast<std::uint32_t>(std::ranges::find_if(lists.lists, has_it) -
                                    lists.lists.begin());
}

std::uint32_t group_number(const StepGraph& graph, const Mesh& mesh, const Over& over,
                           std::uint32_t chip) {
  return over.second ? listed_number(graph.chip_lists[*over.second], chip)
                     : group_number(mesh, over.first, chip);
}

/// Names of all groups, numbered from 1, except the group of all chips.
GroupNames group_names(const StepGraph& graph, const Mesh& mesh) {
  GroupNames names;
  std::uint32_t next = 1;
  for (const Task& task : graph.tasks) {
    const auto* call = std::get_if<CollectiveCall>(&task.work);
    if (call == nullptr || names.contains(over(*call))) continue;
    const std::size_t groups = call->groups ? graph.chip_lists[call->groups->lists].lists.size()
                                            : mesh.chips() / group_size(*call, mesh);
    if (groups == 1 && !call->groups) continue;
    std::vector<std::string>& of_groups = names[over(*call)];
    for (std::size_t group = 0; group < groups; ++group)
      of_groups.push_back(std::to_string(next++));
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
    case Collective::neighbor_average: break;  // not in steps
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
  constexpr double kBitsPerByte = 8.0;
  node.kind = chakra::NodeKind::collective;
  node.collective = kind_of(call.collective);
  node.bytes = static_cast<double>(call.elements) *
               static_cast<double>(numerics::element_bits(call.dtype)) / kBitsPerByte;
  if (call.collective == collectives::Collective::all_gather) node.bytes /= group_size(call, mesh);
}

/// Role of a chip in a permute.
struct Role {
  std::optional<std::uint32_t> to;    ///< receiver of its message
  std::optional<std::uint32_t> from;  ///< sender of its message
};

Role role_of(const ChipLists& pairs, std::uint32_t chip) {
  Role role;
  for (const std::vector<std::uint32_t>& pair : pairs.lists) {
    if (pair[0] == pair[1]) continue;
    if (pair[0] == chip) role.to = pair[1];
    if (pair[1] == chip) role.from = pair[0];
  }
  return role;
}

/// Nodes of one chip. A task that it runs becomes the node with its number. In a permute that waits, a
/// chip that sends and receives has a second node, numbered after all tasks, for the receive; a chip
/// that only receives has just the receive. A chip without tasks has an empty computation.
class TraceWriter {
 public:
  TraceWriter(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
              std::uint32_t chip)
      : graph_(graph),
        mesh_(mesh),
        core_s_(core_s),
        chip_(chip),
        names_(group_names(graph, mesh)),
        before_(predecessors(graph)),
        roles_(graph, mesh.chips()) {}

  chakra::Trace write() {
    for (TaskId id = 0; id < graph_.tasks.size(); ++id)
      if (roles_.runs(chip_, id)) add(id);
    if (trace_.nodes.empty())
      trace_.nodes.push_back({.id = 0, .name = "idle", .kind = chakra::NodeKind::compute});
    return std::move(trace_);
  }

 private:
  void add(TaskId id) {
    const Task& task = graph_.tasks[id];
    chakra::Node node{.id = id, .name = task.name, .after = nodes_before(id)};
    if (const auto* permute = std::get_if<Permute>(&task.work)) return add(*permute, id, node);
    if (const auto* receive = std::get_if<Receive>(&task.work)) return add(*receive, node);
    if (const auto* work = std::get_if<Computation>(&task.work)) describe(*work, core_s_[id], node);
    if (const auto* work = std::get_if<HostTransfer>(&task.work)) describe(*work, node);
    if (const auto* call = std::get_if<CollectiveCall>(&task.work)) {
      describe(*call, mesh_, node);
      const auto found = names_.find(over(*call));
      if (found != names_.end())
        node.group = found->second[group_number(graph_, mesh_, found->first, chip_)];
    }
    trace_.nodes.push_back(std::move(node));
  }

  void add(const Permute& permute, TaskId id, chakra::Node& node) {
    Role role = role_of(graph_.chip_lists[permute.pairs], chip_);
    if (!permute.waits) role.from.reset();
    node.bytes = static_cast<double>(permute.bytes);
    node.tag = id;
    if (role.to) {
      node.kind = chakra::NodeKind::send;
      node.source = chip_;
      node.destination = *role.to;
      trace_.nodes.push_back(node);
    }
    if (!role.from) return;
    if (role.to) node.id = receive_id(id);
    add_receive(*role.from, node);
  }

  void add(const Receive& receive, chakra::Node& node) {
    const auto& permute = std::get<Permute>(graph_.tasks[receive.permute].work);
    node.bytes = static_cast<double>(permute.bytes);
    node.tag = receive.permute;
    add_receive(*role_of(graph_.chip_lists[permute.pairs], chip_).from, node);
  }

  void add_receive(std::uint32_t from, chakra::Node& node) {
    node.kind = chakra::NodeKind::receive;
    node.source = from;
    node.destination = chip_;
    trace_.nodes.push_back(node);
  }

  /// Returns the ids of the nodes that the node of a task depends on, without duplicates.
  std::vector<std::uint64_t> nodes_before(TaskId id) const {
    std::vector<std::uint64_t> nodes;
    for (const TaskId before : before_[id]) {
      if (!roles_.runs(chip_, before)) continue;
      nodes.push_back(before);
      const auto* permute = std::get_if<Permute>(&graph_.tasks[before].work);
      if (permute == nullptr || !permute->waits) continue;
      const Role role = role_of(graph_.chip_lists[permute->pairs], chip_);
      if (role.to && role.from) nodes.push_back(receive_id(before));
    }
    return nodes;
  }

  std::uint64_t receive_id(TaskId id) const { return graph_.tasks.size() + id; }

  const StepGraph& graph_;
  const Mesh& mesh_;
  std::span<const double> core_s_;
  std::uint32_t chip_;
  GroupNames names_;
  std::vector<std::vector<TaskId>> before_;
  Roles roles_;
  chakra::Trace trace_{.version = kVersion, .nodes = {}};
};

}  // namespace

ChakraGroups chakra_groups(const StepGraph& graph, const Mesh& mesh) {
  ChakraGroups groups;
  for (const auto& [over, names] : group_names(graph, mesh)) {
    if (over.second) {  // in rank order
      const ChipLists& lists = graph.chip_lists[*over.second];
      for (std::size_t i = 0; i < names.size(); ++i) groups[names[i]] = lists.lists[i];
      continue;
    }
    for (std::uint32_t chip = 0; chip < mesh.chips(); ++chip)
      groups[names[group_number(mesh, over.first, chip)]].push_back(chip);
  }
  return groups;
}

chakra::Trace chakra_trace(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
                           std::uint32_t chip) {
  return TraceWriter(graph, mesh, core_s, chip).write();
}

}  // namespace equarx::steps
