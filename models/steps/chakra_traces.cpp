#include "models/steps/chakra_traces.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using Axes = std::vector<std::size_t>;
/// What a collective is over: axes of the mesh, or lists of chips.
using Over = std::pair<Axes, std::optional<std::uint32_t>>;
using GroupNames = std::map<Over, std::vector<std::string>>;  // by group of each chip

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

Over over(const CollectiveCall& call) {
  if (call.groups) return {{}, call.groups->lists};
  return {call.axes, std::nullopt};
}

/// The place of a chip's group among those that are listed.
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

/// Of all groups of the step but those of all chips, numbered from 1.
GroupNames names_of_groups(const StepGraph& graph, const Mesh& mesh) {
  GroupNames names;
  std::uint32_t next = 1;
  for (const Task& task : graph.tasks) {
    const auto* call = std::get_if<CollectiveCall>(&task.work);
    if (call == nullptr || names.contains(over(*call))) continue;
    const std::uint32_t groups = mesh.chips() / group_size(*call, mesh);
    if (groups == 1 && !call->groups) continue;
    std::vector<std::string>& of_groups = names[over(*call)];
    for (std::uint32_t group = 0; group < groups; ++group)
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
  if (call.collective == collectives::Collective::all_gather) node.bytes /= group_size(call, mesh);
}

/// What a chip does in a permute.
struct Part {
  std::optional<std::uint32_t> to;    ///< the chip that it sends to
  std::optional<std::uint32_t> from;  ///< the chip that it receives from
};

Part part_of(const ChipLists& pairs, std::uint32_t chip) {
  Part part;
  for (const std::vector<std::uint32_t>& pair : pairs.lists) {
    if (pair[0] == pair[1]) continue;
    if (pair[0] == chip) part.to = pair[1];
    if (pair[1] == chip) part.from = pair[0];
  }
  return part;
}

/// The nodes of one chip. A task is a node of its number; where it receives in a permute, a second one behind those of
/// all tasks, or only that one.
class TraceWriter {
 public:
  TraceWriter(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
              std::uint32_t chip)
      : graph_(graph),
        mesh_(mesh),
        core_s_(core_s),
        chip_(chip),
        names_(names_of_groups(graph, mesh)),
        before_(predecessors(graph)) {}

  chakra::Trace write() {
    for (TaskId id = 0; id < graph_.tasks.size(); ++id) add(id);
    return std::move(trace_);
  }

 private:
  void add(TaskId id) {
    const Task& task = graph_.tasks[id];
    chakra::Node node{.id = id, .name = task.name, .after = nodes_before(id)};
    if (const auto* permute = std::get_if<Permute>(&task.work)) return add(*permute, id, node);
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

  /// Of a chip that takes no part a node that takes no time, which others can wait for.
  void add(const Permute& permute, TaskId id, chakra::Node& node) {
    const Part part = part_of(graph_.chip_lists[permute.pairs], chip_);
    node.kind = chakra::NodeKind::compute;
    if (part.to || part.from) node.bytes = static_cast<double>(permute.bytes);
    node.tag = id;
    if (part.to) {
      node.kind = chakra::NodeKind::send;
      node.source = chip_;
      node.destination = *part.to;
      trace_.nodes.push_back(node);
    }
    if (part.from) {
      node.kind = chakra::NodeKind::receive;
      node.source = *part.from;
      node.destination = chip_;
      if (part.to) node.id = receive_id(id);
    }
    if (part.from || !part.to) trace_.nodes.push_back(node);
  }

  /// The nodes that a task's wait for, none twice.
  std::vector<std::uint64_t> nodes_before(TaskId id) const {
    std::vector<std::uint64_t> nodes;
    for (const TaskId before : before_[id]) {
      nodes.push_back(before);
      const auto* permute = std::get_if<Permute>(&graph_.tasks[before].work);
      if (permute == nullptr) continue;
      const Part part = part_of(graph_.chip_lists[permute->pairs], chip_);
      if (part.to && part.from) nodes.push_back(receive_id(before));
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
  chakra::Trace trace_{.version = kVersion, .nodes = {}};
};

}  // namespace

ChakraGroups chakra_groups(const StepGraph& graph, const Mesh& mesh) {
  ChakraGroups groups;
  for (const auto& [over, names] : names_of_groups(graph, mesh)) {
    if (over.second) {  // in the order of ranks
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
