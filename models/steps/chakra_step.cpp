#include "models/steps/chakra_step.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/algorithm.hpp"
#include "models/hlo/device_axes.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using chakra::Node;
using chakra::NodeKind;
using chakra::Trace;
using hlo::DeviceGroups;

constexpr std::size_t kMostNodes = 1'000'000;
constexpr double kMostChakraBytes = 1e12;

std::string words(const Node& node) { return fmt::format("node {} ('{}')", node.id, node.name); }

/// Places of nodes by their number.
class Places {
 public:
  explicit Places(const Trace& trace) {
    if (trace.nodes.empty()) throw std::invalid_argument("the trace has no nodes");
    if (trace.nodes.size() > kMostNodes)
      throw std::invalid_argument(
          fmt::format("the trace has {} nodes; up to {} are read", trace.nodes.size(), kMostNodes));
    for (std::size_t i = 0; i < trace.nodes.size(); ++i)
      if (!places_.emplace(trace.nodes[i].id, i).second)
        throw std::invalid_argument(words(trace.nodes[i]) + ": its number is there twice");
  }

  std::size_t of(std::uint64_t id, const Node& waiting) const {
    const auto found = places_.find(id);
    if (found == places_.end())
      throw std::invalid_argument(
          fmt::format("{} waits for node {}, which is not there", words(waiting), id));
    return found->second;
  }

 private:
  std::map<std::uint64_t, std::size_t> places_;
};

/// Nodes in the order in which they are taken: by their number, once what they wait for is taken.
std::vector<std::size_t> order_of(const Trace& trace, const Places& places) {
  const std::vector<Node>& nodes = trace.nodes;
  std::vector<std::size_t> open(nodes.size());
  std::vector<std::vector<std::size_t>> waiting(nodes.size());
  using Next = std::pair<std::uint64_t, std::size_t>;  // number and place
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint64_t id : nodes[i].after) waiting[places.of(id, nodes[i])].push_back(i);
    open[i] = nodes[i].after.size();
    if (open[i] == 0) ready.emplace(nodes[i].id, i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top().second);
    ready.pop();
    for (const std::size_t i : waiting[order.back()])
      if (--open[i] == 0) ready.emplace(nodes[i].id, i);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] > 0) throw std::invalid_argument(words(nodes[i]) + " waits for itself");
  return order;
}

/// What a step asks to be the same on every chip.
bool are_alike(const Node& one, const Node& other) {
  return one.id == other.id && one.kind == other.kind && one.after == other.after &&
         one.on_host == other.on_host && one.operations == other.operations &&
         one.bytes == other.bytes && one.collective == other.collective &&
         one.dimensions == other.dimensions;
}

void check_alike(const ChakraTraces& traces) {
  const std::vector<Node>& first = traces.chips.front().nodes;
  for (std::size_t chip = 1; chip < traces.chips.size(); ++chip) {
    const std::vector<Node>& nodes = traces.chips[chip].nodes;
    const auto [one, other] = std::ranges::mismatch(first, nodes, are_alike);
    if (one == first.end() && other == nodes.end()) continue;
    throw std::invalid_argument(fmt::format(
        "chip {} does something else than chip 0, at {}; a step is the same on every chip", chip,
        words(other == nodes.end() ? *one : *other)));
  }
}

/// The chips of a group, rising; none if they are not known.
std::optional<std::vector<std::uint32_t>> chips_of(const ChakraTraces& traces,
                                                   const std::string& group) {
  const auto found = traces.groups.find(group);
  const bool known = found != traces.groups.end();
  if (!known && !group.empty() && group != "0") return std::nullopt;
  std::vector<std::uint32_t> chips = known ? found->second : std::vector<std::uint32_t>{};
  if (chips.empty()) {  // all of them
    chips.resize(traces.devices);
    std::iota(chips.begin(), chips.end(), 0U);
  }
  std::ranges::sort(chips);
  return chips;
}

/// The chips of each group that does a node; none if they are not known.
std::optional<DeviceGroups> groups_of(const ChakraTraces& traces, std::size_t node) {
  std::set<std::string> names;
  for (const Trace& trace : traces.chips) names.insert(trace.nodes[node].group);
  std::set<std::vector<std::uint32_t>> groups;  // several names may be of the same chips
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
        throw std::invalid_argument(fmt::format(
            "group '{}' has chip {}, and there are chips 0 to {}", name, chip, traces.devices - 1));
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

/// A name without its numbers, by which alike nodes of all layers are told from others.
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
        places_(traces.chips.front()) {}

  ChakraStep build() && {
    const std::vector<Node>& nodes = traces_.chips.front().nodes;
    ends_.resize(nodes.size());
    for (const std::size_t node : order_of(traces_.chips.front(), places_)) add(node);
    if (step_.graph.tasks.empty()) throw std::invalid_argument("nothing in the trace takes time");
    return std::move(step_);
  }

 private:
  using Waits = std::vector<TaskId>;

  void add(std::size_t place) {
    const Node& node = traces_.chips.front().nodes[place];
    Waits after = waits_of(node);
    if (node.on_host) return leave_out(place, "work of the host takes no time", std::move(after));
    switch (node.kind) {
      case NodeKind::compute: return add_computation(place, std::move(after));
      case NodeKind::collective: return add_collective(place, std::move(after));
      case NodeKind::load:
      case NodeKind::store: return add_transfer(place, std::move(after));
      case NodeKind::send:
      case NodeKind::receive:
        return leave_out(place, "sends and receives of two chips take no time", std::move(after));
      case NodeKind::metadata:
      case NodeKind::invalid: ends_[place] = std::move(after); return;
    }
  }

  /// Tasks that what a node waits for ends with.
  Waits waits_of(const Node& node) const {
    std::set<TaskId> after;
    for (const std::uint64_t id : node.after) {
      const Waits& ends = ends_[places_.of(id, node)];
      after.insert(ends.begin(), ends.end());
    }
    return {after.begin(), after.end()};
  }

  void leave_out(std::size_t place, const std::string& why, Waits after) {
    ++step_.notes[why];
    ends_[place] = std::move(after);
  }

  void add_task(std::size_t place, const std::string& group, const std::string& stream,
                decltype(Task::work) work, Waits after) {
    const Node& node = traces_.chips.front().nodes[place];
    std::string name = node.name.empty() ? group : node.name;
    while (!names_.insert(name).second) name += fmt::format(" (node {})", node.id);
    step_.graph.tasks.push_back({.name = name,
                                 .group = group,
                                 .stream = stream_id(step_.graph, stream),
                                 .work = std::move(work),
                                 .after = std::move(after)});
    ends_[place] = {static_cast<TaskId>(step_.graph.tasks.size() - 1)};
  }

  std::string group_of(const Node& node, const char* otherwise) const {
    const std::string group = without_numbers(node.name);
    return group.empty() ? otherwise : group;
  }

  void add_computation(std::size_t place, Waits after) {
    const Node& node = traces_.chips.front().nodes[place];
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
      return leave_out(place, "computations without num_ops, tensor_size and duration take no time",
                       std::move(after));
    add_task(place, group_of(node, "compute"), "core", std::move(work), std::move(after));
  }

  void add_transfer(std::size_t place, Waits after) {
    const Node& node = traces_.chips.front().nodes[place];
    if (node.bytes <= 0.0)
      return leave_out(place, "loads and stores of nothing take no time", std::move(after));
    const bool out = node.kind == NodeKind::store;
    const char* stream = out ? "to-host" : "from-host";
    const auto direction =
        out ? HostTransfer::Direction::to_host : HostTransfer::Direction::from_host;
    add_task(place, group_of(node, stream), stream, HostTransfer{direction, node.bytes},
             std::move(after));
  }

  void add_collective(std::size_t place, Waits after) {
    const std::size_t which = collective_at(place);
    ChakraCollective& collective = step_.collectives[which];
    ++collective.times;
    const ImportedCollective& imported = collective.imported;
    if (!imported.obstacle.empty()) {
      ends_[place] = std::move(after);
      return;
    }
    add_task(place, imported.group, imported.group, imported.call, std::move(after));
  }

  /// The entry of a node's collective: those that are alike but for numbers in their names have one.
  std::size_t collective_at(std::size_t place) {
    const Node& node = traces_.chips.front().nodes[place];
    ChakraCollective made{
        .name = node.name, .kind = std::string(chakra::name(node.collective)), .bytes = node.bytes};
    ImportedCollective& imported = made.imported;
    imported.group = group_of(node, "collective");
    imported.obstacle = obstacle_of(place, made);
    if (imported.obstacle.empty()) {
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
          known.imported.call == imported.call && known.imported.obstacle == imported.obstacle)
        return i;
      imported.group += "'";
    }
    step_.collectives.push_back(std::move(made));
    return step_.collectives.size() - 1;
  }

  /// Why it is not simulated; empty if it is, and then its groups and sizes are set.
  std::string obstacle_of(std::size_t place, ChakraCollective& made) {
    const Node& node = traces_.chips.front().nodes[place];
    if (!simulated_as(node.collective)) return "is none that is simulated";
    const auto groups = groups_of(traces_, place);
    if (!groups) return fmt::format("its group '{}' is not known on every chip", node.group);
    auto along = axes_.axes_of(*groups);
    if (along && !keep_involved(node.dimensions, *along))
      return "its dimensions are none of the mesh";
    CollectiveCall& call = made.imported.call;
    const std::string why_not = set_groups(along, *groups, traces_.devices, step_.graph, call);
    if (!why_not.empty()) return why_not;
    made.chips = group_size(call, mesh_);
    if (node.collective == chakra::CollectiveKind::all_gather) made.bytes *= made.chips;
    if (made.bytes <= 0.0) return "moves nothing";
    if (made.bytes > kMostChakraBytes) return "is too large";
    return {};
  }

  /// Dimensions of a network are numbered from the one along which neighbours' numbers follow each other: the last axis.
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
  hlo::DeviceAxes axes_;
  Places places_;
  ChakraStep step_;
  std::vector<Waits> ends_;  ///< by node: who waits for it waits for these tasks
  std::set<std::string> names_;
};

void check(const ChakraTraces& traces) {
  if (traces.chips.empty()) throw std::invalid_argument("there is no trace");
  check_alike(traces);
  check_groups(traces);
}

}  // namespace

std::vector<MeshAxis> axes_for(const ChakraTraces& traces) {
  check(traces);
  hlo::DeviceAxes axes(traces.devices);
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
