#include "importers/chakra/chakra_step.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "importers/chakra/merged_nodes.hpp"
#include "importers/common/device_axes.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using chakra::MergedNode;
using chakra::Node;
using chakra::NodeKind;

constexpr double kMaxTraceBytes = 1e12;

/// A barrier is simulated as an AllReduce of one element, as in PyTorch's process groups.
std::optional<collectives::Collective> simulated_as(chakra::CollectiveKind kind) {
  switch (kind) {
    case chakra::CollectiveKind::all_reduce:
    case chakra::CollectiveKind::barrier: return collectives::Collective::all_reduce;
    case chakra::CollectiveKind::all_gather: return collectives::Collective::all_gather;
    case chakra::CollectiveKind::reduce_scatter:
    case chakra::CollectiveKind::reduce_scatter_block:
      return collectives::Collective::reduce_scatter;
    case chakra::CollectiveKind::all_to_all: return collectives::Collective::all_to_all;
    case chakra::CollectiveKind::broadcast: return collectives::Collective::broadcast;
    case chakra::CollectiveKind::reduce:
    case chakra::CollectiveKind::gather:
    case chakra::CollectiveKind::scatter: return std::nullopt;
  }
  return std::nullopt;
}

class ChakraBuilder {
 public:
  ChakraBuilder(const ChakraTraces& traces, const Mesh& mesh, const ChakraOptions& options)
      : traces_(traces),
        mesh_(mesh),
        options_(options),
        axes_(mesh.lengths()),
        nodes_(chakra::merged_nodes(traces, options.recorded_times)) {}

  ChakraStep build() && {
    end_tasks_.resize(nodes_.size());
    set_messages();
    for (std::size_t node = 0; node < nodes_.size(); ++node) add(node);
    if (step_.graph.tasks.empty()) throw std::invalid_argument("nothing in the trace takes time");
    return std::move(step_);
  }

 private:
  using TaskIds = std::vector<TaskId>;
  using Pairs = std::vector<std::vector<std::uint32_t>>;

  /// The trace node of the first member.
  const Node& first(std::size_t index) const {
    const chakra::Member& member = nodes_[index].members.front();
    return traces_.chips[member.chip].nodes[member.node];
  }

  /// Divides the messages of each send by the node that receives them.
  void set_messages() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].send)
        for (const chakra::Member& member : nodes_[i].members)
          pairs_[*nodes_[i].send][i].push_back({member.peer, member.chip});
  }

  void add(std::size_t index) {
    const Node& node = first(index);
    TaskIds after = dependencies_of(index);
    if (node.on_host) return skip(index, "host work is not simulated", std::move(after));
    switch (node.kind) {
      case NodeKind::compute: return add_computation(index, std::move(after));
      case NodeKind::collective: return add_collective(index, std::move(after));
      case NodeKind::load:
      case NodeKind::store: return add_transfer(index, std::move(after));
      case NodeKind::send: return add_sends(index, after);
      case NodeKind::receive: return add_receive(index, std::move(after));
      case NodeKind::metadata:
      case NodeKind::invalid: end_tasks_[index] = std::move(after); return;
    }
  }

  /// Returns the tasks that a node depends on.
  TaskIds dependencies_of(std::size_t index) const {
    std::set<TaskId> after;
    for (const std::size_t before : nodes_[index].after)
      after.insert(end_tasks_[before].begin(), end_tasks_[before].end());
    return {after.begin(), after.end()};
  }

  void skip(std::size_t index, const std::string& why, TaskIds after) {
    ++step_.notes[why];
    end_tasks_[index] = std::move(after);
  }

  std::uint32_t list_id(Pairs lists) {
    return chip_lists_id(step_.graph.chip_lists, std::move(lists));
  }

  /// The members of a node, if they are not all chips.
  std::optional<std::uint32_t> chips_of(std::size_t index) {
    const MergedNode& node = nodes_[index];
    if (node.members.size() == traces_.chips.size()) return std::nullopt;
    std::vector<std::uint32_t> chips;
    for (const chakra::Member& member : node.members) chips.push_back(member.chip);
    std::ranges::sort(chips);
    return list_id({chips});
  }

  TaskId add_task(std::size_t index, Task task) {
    const Node& node = first(index);
    task.name = node.name.empty() ? task.group : node.name;
    if (names_.contains(task.name) && nodes_[index].members.size() < traces_.chips.size())
      task.name += fmt::format(" on chip {}", nodes_[index].members.front().chip);
    while (!names_.insert(task.name).second) task.name += fmt::format(" (node {})", node.id);
    step_.graph.tasks.push_back(std::move(task));
    const auto id = static_cast<TaskId>(step_.graph.tasks.size() - 1);
    end_tasks_[index].push_back(id);
    return id;
  }

  StreamId stream(const std::string& name) { return stream_id(step_.graph, name); }

  static std::string group_of(const Node& node, const char* otherwise) {
    const std::string group = chakra::without_numbers(node.name);
    return group.empty() ? otherwise : group;
  }

  void add_computation(std::size_t index, TaskIds after) {
    const Node& node = first(index);
    Computation work;
    const bool derived = !options_.recorded_times && (node.operations > 0.0 || node.bytes > 0.0);
    if (derived) {
      work.operations.push_back({.name = "node",
                                 .kind = workloads::OperationKind::matrix,
                                 .flops = node.operations,
                                 .read_bytes = node.bytes});
      work.model_flops = node.operations;
    } else {
      work.seconds = node.duration_s;
    }
    if (!derived && node.duration_s <= 0.0)
      return skip(index, "computations without num_ops, tensor_size and duration take no time",
                  std::move(after));
    add_task(index, {.name = {},
                     .group = group_of(node, "compute"),
                     .stream = stream("core"),
                     .work = std::move(work),
                     .after = std::move(after),
                     .chips = chips_of(index)});
  }

  void add_transfer(std::size_t index, TaskIds after) {
    const Node& node = first(index);
    if (node.bytes <= 0.0)
      return skip(index, "empty loads and stores take no time", std::move(after));
    const bool out = node.kind == NodeKind::store;
    const char* name = out ? "to-host" : "from-host";
    const auto direction =
        out ? HostTransfer::Direction::to_host : HostTransfer::Direction::from_host;
    add_task(index, {.name = {},
                     .group = group_of(node, name),
                     .stream = stream(name),
                     .work = HostTransfer{direction, node.bytes},
                     .after = std::move(after),
                     .chips = chips_of(index)});
  }

  void add_collective(std::size_t index, TaskIds after) {
    const ImportedCollective imported = collective_at(index).imported;
    if (!imported.skip_reason.empty()) {
      end_tasks_[index] = std::move(after);
      return;
    }
    const bool whole = imported.call.groups.has_value();
    add_task(index, {.name = {},
                     .group = imported.group,
                     .stream = stream(imported.group),
                     .work = imported.call,
                     .after = std::move(after),
                     .chips = whole ? std::nullopt : chips_of(index)});
  }

  /// Adds a permute for each node that receives some of the messages.
  void add_sends(std::size_t index, const TaskIds& after) {
    const Node& node = first(index);
    if (node.bytes <= 0.0) return skip(index, "empty messages take no time", after);
    if (node.bytes > kMaxTraceBytes)
      throw std::invalid_argument(fmt::format("{} sends {:.3g} B; the limit is {:.0e} B",
                                              node_text(traces_, nodes_[index].members.front()),
                                              node.bytes, kMaxTraceBytes));
    for (auto& [receive, pairs] : pairs_[index]) {
      std::ranges::sort(pairs);
      ChakraCollective made{.name = node.name, .kind = "send", .bytes = node.bytes};
      made.chips = static_cast<std::uint32_t>(pairs.size());
      made.imported.group = group_of(node, "send");
      made.imported.permute = Permute{
          .pairs = list_id(pairs), .bytes = static_cast<std::uint64_t>(node.bytes), .waits = false};
      const ImportedCollective& imported = entry_of(std::move(made)).imported;
      const std::uint32_t lists = imported.permute->pairs;
      sent_[receive] =
          add_task(index, {.name = {},
                           .group = imported.group,
                           .stream = stream("send " + step_.graph.chip_lists[lists].name),
                           .work = *imported.permute,
                           .after = after});
    }
  }

  void add_receive(std::size_t index, TaskIds after) {
    const auto sent = sent_.find(index);
    if (sent == sent_.end()) {  // an empty message
      end_tasks_[index] = std::move(after);
      return;
    }
    const Task& send = step_.graph.tasks[sent->second];
    const std::uint32_t lists = std::get<Permute>(send.work).pairs;
    add_task(index, {.name = {},
                     .group = send.group,
                     .stream = stream("receive " + step_.graph.chip_lists[lists].name),
                     .work = Receive{sent->second},
                     .after = std::move(after)});
  }

  /// Returns the entry of a collective; nodes that differ only in numbers in their names share one.
  ChakraCollective& collective_at(std::size_t index) {
    const Node& node = first(index);
    ChakraCollective made{
        .name = node.name, .kind = std::string(chakra::name(node.collective)), .bytes = node.bytes};
    ImportedCollective& imported = made.imported;
    imported.group = group_of(node, "collective");
    imported.skip_reason = skip_reason_of(index, made);
    if (imported.skip_reason.empty()) {
      imported.call.collective = *simulated_as(node.collective);
      imported.call.dtype = options_.dtype;
      imported.call.elements = elements_of(made.bytes, options_.dtype);
      imported.can_quantize = is_wide(options_.dtype);
    }
    return entry_of(std::move(made));
  }

  ChakraCollective& entry_of(ChakraCollective made) {
    ImportedCollective& imported = made.imported;
    for (ChakraCollective& known : step_.collectives) {
      if (known.imported.group != imported.group) continue;
      if (known.kind == made.kind && known.bytes == made.bytes &&
          known.imported.call == imported.call && known.imported.permute == imported.permute &&
          known.imported.skip_reason == imported.skip_reason) {
        ++known.times;
        return known;
      }
      imported.group += "'";
    }
    made.times = 1.0;
    step_.collectives.push_back(std::move(made));
    return step_.collectives.back();
  }

  /// Sets groups and sizes of `made`. Returns why it cannot be simulated, or an empty string.
  std::string skip_reason_of(std::size_t index, ChakraCollective& made) {
    const Node& node = first(index);
    if (!simulated_as(node.collective)) return "unsupported kind";
    if (!nodes_[index].obstacle.empty()) return nodes_[index].obstacle;
    imports::DeviceGroups groups = nodes_[index].groups;
    std::ranges::sort(groups);
    if (groups.front().size() < 2) return "groups of one chip";
    const bool covers = !unlisted_chip(groups, traces_.devices);
    auto along = covers ? axes_.axes_of(groups) : std::nullopt;
    if (!keep_involved(node.dimensions, along)) return "dimensions do not match the mesh";
    CollectiveCall& call = made.imported.call;
    const std::string error = set_groups(along, groups, traces_.devices, step_.graph, call);
    if (!error.empty()) return error;
    made.chips = group_size(call, mesh_);
    if (node.collective == chakra::CollectiveKind::all_gather) made.bytes *= made.chips;
    if (node.collective == chakra::CollectiveKind::barrier)
      made.bytes = static_cast<double>(numerics::element_bits(options_.dtype)) / 8.0;
    if (made.bytes <= 0.0) return "moves no data";
    if (made.bytes > kMaxTraceBytes) return "too large";
    return {};
  }

  /// Network dimensions are numbered from the fastest-varying one, the last mesh axis.
  bool keep_involved(const std::vector<bool>& dimensions,
                     std::optional<std::vector<std::size_t>>& along) const {
    if (!along || std::ranges::all_of(dimensions, std::identity())) return true;
    if (dimensions.size() < mesh_.axes.size()) return false;
    std::erase_if(*along,
                  [&](std::size_t axis) { return !dimensions[mesh_.axes.size() - 1 - axis]; });
    return true;
  }

  const ChakraTraces& traces_;
  const Mesh& mesh_;
  const ChakraOptions& options_;
  imports::DeviceAxes axes_;
  std::vector<MergedNode> nodes_;
  ChakraStep step_;
  std::vector<TaskIds> end_tasks_;  ///< by node: the tasks that its dependents wait for
  std::map<std::size_t, std::map<std::size_t, Pairs>> pairs_;  ///< by send and receive
  std::map<std::size_t, TaskId> sent_;                         ///< by receive: its permute
  std::set<std::string> names_;
};

}  // namespace

std::vector<MeshAxis> axes_for(const ChakraTraces& traces) {
  imports::DeviceAxes axes(traces.devices);
  for (MergedNode& node : chakra::merged_nodes(traces, false)) {
    if (node.groups.empty() || unlisted_chip(node.groups, traces.devices)) continue;
    std::ranges::sort(node.groups);
    axes.divide_for(node.groups);
  }
  return named_axes(axes.lengths());
}

ChakraStep chakra_step(const ChakraTraces& traces, const Mesh& mesh, const ChakraOptions& options) {
  return ChakraBuilder(traces, mesh, options).build();
}

}  // namespace equarx::steps
