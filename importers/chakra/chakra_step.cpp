#include "importers/chakra/chakra_step.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "importers/common/device_axes.hpp"
#include "models/collectives/algorithm.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using chakra::Node;
using chakra::NodeKind;
using chakra::Trace;
using imports::DeviceGroups;

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr double kMaxTraceBytes = 1e12;

std::string node_text(const Node& node) {
  return fmt::format("node {} ('{}')", node.id, node.name);
}

/// Maps node ids to indices.
class NodeIndex {
 public:
  explicit NodeIndex(const Trace& trace) {
    if (trace.nodes.empty()) throw std::invalid_argument("the trace has no nodes");
    if (trace.nodes.size() > kMaxNodes)
      throw std::invalid_argument(
          fmt::format("the trace has {} nodes; the limit is {}", trace.nodes.size(), kMaxNodes));
    for (std::size_t i = 0; i < trace.nodes.size(); ++i)
      if (!index_.emplace(trace.nodes[i].id, i).second)
        throw std::invalid_argument(node_text(trace.nodes[i]) + ": duplicate node id");
  }

  std::size_t of(std::uint64_t id, const Node& waiting) const {
    const auto found = index_.find(id);
    if (found == index_.end())
      throw std::invalid_argument(
          fmt::format("{} waits for node {}, which does not exist", node_text(waiting), id));
    return found->second;
  }

 private:
  std::map<std::uint64_t, std::size_t> index_;
};

/// Returns node indices in issue order: by ascending id, once all dependencies are issued.
std::vector<std::size_t> issue_order(const Trace& trace, const NodeIndex& index) {
  const std::vector<Node>& nodes = trace.nodes;
  std::vector<std::size_t> pending(nodes.size());
  std::vector<std::vector<std::size_t>> waiting(nodes.size());
  using Next = std::pair<std::uint64_t, std::size_t>;  // id and index
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint64_t id : nodes[i].after) waiting[index.of(id, nodes[i])].push_back(i);
    pending[i] = nodes[i].after.size();
    if (pending[i] == 0) ready.emplace(nodes[i].id, i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top().second);
    ready.pop();
    for (const std::size_t i : waiting[order.back()])
      if (--pending[i] == 0) ready.emplace(nodes[i].id, i);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (pending[i] > 0) throw std::invalid_argument(node_text(nodes[i]) + " waits for itself");
  return order;
}

/// True if two nodes agree in everything that must be the same on every chip.
bool same_work(const Node& one, const Node& other) {
  return one.id == other.id && one.kind == other.kind && one.after == other.after &&
         one.on_host == other.on_host && one.operations == other.operations &&
         one.bytes == other.bytes && one.collective == other.collective &&
         one.dimensions == other.dimensions;
}

void check_identical(const ChakraTraces& traces) {
  const std::vector<Node>& first = traces.chips.front().nodes;
  for (std::size_t chip = 1; chip < traces.chips.size(); ++chip) {
    const std::vector<Node>& nodes = traces.chips[chip].nodes;
    const auto [one, other] = std::ranges::mismatch(first, nodes, same_work);
    if (one == first.end() && other == nodes.end()) continue;
    throw std::invalid_argument(
        fmt::format("chip {} differs from chip 0 at {}; a step must be the same on every chip",
                    chip, node_text(other == nodes.end() ? *one : *other)));
  }
}

/// Returns the chips of a group, ascending; std::nullopt if the group is unknown.
std::optional<std::vector<std::uint32_t>> chips_of(const ChakraTraces& traces,
                                                   const std::string& group) {
  const auto found = traces.groups.find(group);
  const bool known = found != traces.groups.end();
  if (!known && !group.empty() && group != "0") return std::nullopt;
  std::vector<std::uint32_t> chips = known ? found->second : std::vector<std::uint32_t>{};
  if (chips.empty()) {  // empty: all chips
    chips.resize(traces.devices);
    std::iota(chips.begin(), chips.end(), 0U);
  }
  std::ranges::sort(chips);
  return chips;
}

/// Returns the chips of each group that runs a node; std::nullopt if unknown.
std::optional<DeviceGroups> groups_of(const ChakraTraces& traces, std::size_t node) {
  std::set<std::string> names;
  for (const Trace& trace : traces.chips) names.insert(trace.nodes[node].group);
  std::set<std::vector<std::uint32_t>> groups;  // several names may refer to the same chips
  std::size_t chips = 0;
  for (const std::string& name : names) {
    auto group = chips_of(traces, name);
    if (!group) return std::nullopt;
    const std::size_t size = group->size();
    if (groups.insert(std::move(*group)).second) chips += size;
  }
  if (chips != traces.devices) return std::nullopt;
  return DeviceGroups(groups.begin(), groups.end());
}

void check_groups(const ChakraTraces& traces) {
  for (const auto& [name, chips] : traces.groups)
    for (const std::uint32_t chip : chips)
      if (chip >= traces.devices)
        throw std::invalid_argument(
            fmt::format("group '{}' contains chip {}, but chips are numbered 0 to {}", name, chip,
                        traces.devices - 1));
}

std::optional<collectives::Collective> simulated_as(chakra::CollectiveKind kind) {
  switch (kind) {
    case chakra::CollectiveKind::all_reduce: return collectives::Collective::all_reduce;
    case chakra::CollectiveKind::all_gather: return collectives::Collective::all_gather;
    case chakra::CollectiveKind::reduce_scatter:
    case chakra::CollectiveKind::reduce_scatter_block:
      return collectives::Collective::reduce_scatter;
    case chakra::CollectiveKind::all_to_all: return collectives::Collective::all_to_all;
    case chakra::CollectiveKind::broadcast: return collectives::Collective::broadcast;
    case chakra::CollectiveKind::reduce:
    case chakra::CollectiveKind::gather:
    case chakra::CollectiveKind::scatter:
    case chakra::CollectiveKind::barrier: return std::nullopt;
  }
  return std::nullopt;
}

/// Removes numbers from a name, so that equal nodes of all layers get the same name.
std::string without_numbers(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c >= '0' && c <= '9') continue;
    if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
    text.push_back(c);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '_')) text.pop_back();
  return text;
}

class ChakraBuilder {
 public:
  ChakraBuilder(const ChakraTraces& traces, const Mesh& mesh, const ChakraOptions& options)
      : traces_(traces),
        mesh_(mesh),
        options_(options),
        axes_(mesh.lengths()),
        index_(traces.chips.front()) {}

  ChakraStep build() && {
    const std::vector<Node>& nodes = traces_.chips.front().nodes;
    end_tasks_.resize(nodes.size());
    for (const std::size_t node : issue_order(traces_.chips.front(), index_)) add(node);
    if (step_.graph.tasks.empty()) throw std::invalid_argument("nothing in the trace takes time");
    return std::move(step_);
  }

 private:
  using TaskIds = std::vector<TaskId>;

  void add(std::size_t node_index) {
    const Node& node = traces_.chips.front().nodes[node_index];
    TaskIds after = dependencies_of(node);
    if (node.on_host) return skip(node_index, "host work is not simulated", std::move(after));
    switch (node.kind) {
      case NodeKind::compute: return add_computation(node_index, std::move(after));
      case NodeKind::collective: return add_collective(node_index, std::move(after));
      case NodeKind::load:
      case NodeKind::store: return add_transfer(node_index, std::move(after));
      case NodeKind::send:
      case NodeKind::receive:
        return skip(node_index, "point-to-point sends and receives are not simulated",
                    std::move(after));
      case NodeKind::metadata:
      case NodeKind::invalid: end_tasks_[node_index] = std::move(after); return;
    }
  }

  /// Returns the tasks that a node depends on.
  TaskIds dependencies_of(const Node& node) const {
    std::set<TaskId> after;
    for (const std::uint64_t id : node.after) {
      const TaskIds& ends = end_tasks_[index_.of(id, node)];
      after.insert(ends.begin(), ends.end());
    }
    return {after.begin(), after.end()};
  }

  void skip(std::size_t node_index, const std::string& why, TaskIds after) {
    ++step_.notes[why];
    end_tasks_[node_index] = std::move(after);
  }

  void add_task(std::size_t node_index, const std::string& group, const std::string& stream,
                decltype(Task::work) work, TaskIds after) {
    const Node& node = traces_.chips.front().nodes[node_index];
    std::string name = node.name.empty() ? group : node.name;
    while (!names_.insert(name).second) name += fmt::format(" (node {})", node.id);
    step_.graph.tasks.push_back({.name = name,
                                 .group = group,
                                 .stream = stream_id(step_.graph, stream),
                                 .work = std::move(work),
                                 .after = std::move(after)});
    end_tasks_[node_index] = {static_cast<TaskId>(step_.graph.tasks.size() - 1)};
  }

  std::string group_of(const Node& node, const char* otherwise) const {
    const std::string group = without_numbers(node.name);
    return group.empty() ? otherwise : group;
  }

  void add_computation(std::size_t node_index, TaskIds after) {
    const Node& node = traces_.chips.front().nodes[node_index];
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
      return skip(node_index, "computations without num_ops, tensor_size and duration take no time",
                  std::move(after));
    add_task(node_index, group_of(node, "compute"), "core", std::move(work), std::move(after));
  }

  void add_transfer(std::size_t node_index, TaskIds after) {
    const Node& node = traces_.chips.front().nodes[node_index];
    if (node.bytes <= 0.0)
      return skip(node_index, "empty loads and stores take no time", std::move(after));
    const bool out = node.kind == NodeKind::store;
    const char* stream = out ? "to-host" : "from-host";
    const auto direction =
        out ? HostTransfer::Direction::to_host : HostTransfer::Direction::from_host;
    add_task(node_index, group_of(node, stream), stream, HostTransfer{direction, node.bytes},
             std::move(after));
  }

  void add_collective(std::size_t node_index, TaskIds after) {
    const std::size_t entry = collective_at(node_index);
    ChakraCollective& collective = step_.collectives[entry];
    ++collective.times;
    const ImportedCollective& imported = collective.imported;
    if (!imported.skip_reason.empty()) {
      end_tasks_[node_index] = std::move(after);
      return;
    }
    add_task(node_index, imported.group, imported.group, imported.call, std::move(after));
  }

  /// Returns the index of the entry of a collective; nodes that differ only in numbers in their
  /// names share one.
  std::size_t collective_at(std::size_t node_index) {
    const Node& node = traces_.chips.front().nodes[node_index];
    ChakraCollective made{
        .name = node.name, .kind = std::string(chakra::name(node.collective)), .bytes = node.bytes};
    ImportedCollective& imported = made.imported;
    imported.group = group_of(node, "collective");
    imported.skip_reason = skip_reason_of(node_index, made);
    if (imported.skip_reason.empty()) {
      imported.call.collective = *simulated_as(node.collective);
      imported.call.dtype = options_.dtype;
      imported.call.elements = elements_of(made.bytes, options_.dtype);
      imported.can_quantize =
          is_wide(options_.dtype) && collectives::sums(imported.call.collective);
    }
    for (std::size_t i = 0; i < step_.collectives.size(); ++i) {
      const ChakraCollective& known = step_.collectives[i];
      if (known.imported.group != imported.group) continue;
      if (known.kind == made.kind && known.bytes == made.bytes &&
          known.imported.call == imported.call &&
          known.imported.skip_reason == imported.skip_reason)
        return i;
      imported.group += "'";
    }
    step_.collectives.push_back(std::move(made));
    return step_.collectives.size() - 1;
  }

  /// Sets groups and sizes of `made`. Returns why it cannot be simulated, or an empty string.
  std::string skip_reason_of(std::size_t node_index, ChakraCollective& made) {
    const Node& node = traces_.chips.front().nodes[node_index];
    if (!simulated_as(node.collective)) return "unsupported kind";
    const auto groups = groups_of(traces_, node_index);
    if (!groups) return fmt::format("group '{}' is not defined on every chip", node.group);
    auto along = axes_.axes_of(*groups);
    if (along && !keep_involved(node.dimensions, *along)) return "dimensions do not match the mesh";
    CollectiveCall& call = made.imported.call;
    const std::string error = set_groups(along, *groups, traces_.devices, step_.graph, call);
    if (!error.empty()) return error;
    made.chips = group_size(call, mesh_);
    if (node.collective == chakra::CollectiveKind::all_gather) made.bytes *= made.chips;
    if (made.bytes <= 0.0) return "moves no data";
    if (made.bytes > kMaxTraceBytes) return "too large";
    return {};
  }

  /// Network dimensions are numbered from the fastest-varying one, the last mesh axis.
  bool keep_involved(const std::vector<bool>& dimensions, std::vector<std::size_t>& along) const {
    if (std::ranges::all_of(dimensions, std::identity())) return true;
    if (dimensions.size() < mesh_.axes.size()) return false;
    std::erase_if(along,
                  [&](std::size_t axis) { return !dimensions[mesh_.axes.size() - 1 - axis]; });
    return true;
  }

  const ChakraTraces& traces_;
  const Mesh& mesh_;
  const ChakraOptions& options_;
  imports::DeviceAxes axes_;
  NodeIndex index_;
  ChakraStep step_;
  std::vector<TaskIds> end_tasks_;  ///< by node: the tasks that its dependents wait for
  std::set<std::string> names_;
};

void check(const ChakraTraces& traces) {
  if (traces.chips.empty()) throw std::invalid_argument("no trace given");
  check_identical(traces);
  check_groups(traces);
}

}  // namespace

std::vector<MeshAxis> axes_for(const ChakraTraces& traces) {
  check(traces);
  imports::DeviceAxes axes(traces.devices);
  const std::vector<Node>& nodes = traces.chips.front().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].kind == NodeKind::collective)
      if (const auto groups = groups_of(traces, i)) axes.divide_for(*groups);
  return named_axes(axes.lengths());
}

ChakraStep chakra_step(const ChakraTraces& traces, const Mesh& mesh, const ChakraOptions& options) {
  check(traces);
  return ChakraBuilder(traces, mesh, options).build();
}

}  // namespace equarx::steps
