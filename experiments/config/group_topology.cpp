#include "experiments/config/group_topology.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "experiments/config/topology.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::config {
namespace {

using topology::ChipId;
using Lengths = std::vector<std::uint32_t>;
using Groups = std::vector<std::vector<ChipId>>;

/// The last mesh axes whose product is `chips`; `chips` alone if there are none.
Lengths divided(std::uint32_t chips, const Lengths& mesh) {
  Lengths lengths;
  std::uint64_t product = 1;
  for (std::size_t i = mesh.size(); i-- > 0 && product < chips;) {
    product *= mesh[i];
    if (mesh[i] > 1) lengths.insert(lengths.begin(), mesh[i]);
  }
  return product == chips ? lengths : Lengths{chips};
}

/// Index of the first axis within a slice.
std::size_t first_within(const TopologyConfig& topology) { return topology.network ? 1 : 0; }

// --- Shapes of groups

/// Chips from one element of a part to the next, along its axis: the product of the parts after it.
std::uint32_t stride_of(const steps::Mesh& mesh, std::size_t part) {
  std::uint32_t stride = 1;
  for (std::size_t later = part + 1; later < mesh.machine.size(); ++later)
    if (mesh.axis_of(later) == mesh.axis_of(part)) stride *= mesh.machine[later];
  return stride;
}

/// Runs of the parts of a mesh that a group covers; adjacent parts of an axis are one run, and all of
/// slices, which are alike.
std::vector<AxisRun> runs_of(const TopologyConfig& topology, const steps::Mesh& mesh,
                             const std::vector<std::size_t>& parts) {
  std::vector<AxisRun> runs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t axis = mesh.axis_of(parts[i]);
    const bool same_axis = i > 0 && mesh.axis_of(parts[i - 1]) == axis;
    const bool of_slices = topology.network && axis == 0;
    if (!same_axis || (!of_slices && parts[i - 1] + 1 != parts[i])) runs.push_back({axis, 1, 1});
    runs.back().length *= mesh.machine[parts[i]];
    runs.back().stride = stride_of(mesh, parts[i]);
  }
  return runs;
}

/// The arithmetic progression with these elements; std::nullopt if there is none.
std::optional<AxisRun> progression(std::size_t axis, const std::set<std::uint32_t>& elements) {
  AxisRun run{axis, static_cast<std::uint32_t>(elements.size()), 1};
  if (elements.size() > 1) run.stride = *std::next(elements.begin()) - *elements.begin();
  std::uint32_t expected = *elements.begin();
  for (const std::uint32_t element : elements) {
    if (element != expected) return std::nullopt;
    expected += run.stride;
  }
  return run;
}

/// Coordinates of the chips of a group along each axis.
std::vector<std::set<std::uint32_t>> coordinates_of(const std::vector<ChipId>& group,
                                                    const Lengths& lengths) {
  std::vector<std::set<std::uint32_t>> coordinates(lengths.size());
  for (ChipId chip : group)
    for (std::size_t axis = lengths.size(); axis-- > 0; chip /= lengths[axis])
      coordinates[axis].insert(chip % lengths[axis]);
  return coordinates;
}

/// Runs whose product is a group on a grid, or on slices of grids; std::nullopt if there are none.
std::optional<std::vector<AxisRun>> runs_on_grid(const std::vector<ChipId>& group,
                                                 const TopologyConfig& topology,
                                                 const Lengths& lengths) {
  std::vector<AxisRun> runs;
  std::size_t product = 1;
  const auto coordinates = coordinates_of(group, lengths);
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const bool is_network = topology.network && axis == 0;  // all slices are alike
    const auto run =
        is_network
            ? std::optional(AxisRun{axis, static_cast<std::uint32_t>(coordinates[axis].size()), 1})
            : progression(axis, coordinates[axis]);
    if (!run) return std::nullopt;
    product *= run->length;
    if (run->length > 1) runs.push_back(*run);
  }
  return product == group.size() ? std::optional(runs) : std::nullopt;
}

/// Likewise if the chips of a slice are all alike: as many in each slice of the group.
std::optional<std::vector<AxisRun>> runs_of_alike(const std::vector<ChipId>& group,
                                                  const TopologyConfig& topology,
                                                  const Lengths& lengths) {
  if (!topology.network) return std::vector{AxisRun{0, static_cast<std::uint32_t>(group.size())}};
  std::vector<std::uint32_t> by_slice(lengths.front());
  for (const ChipId chip : group) ++by_slice[chip / count_chips_of_slice(topology)];
  std::erase(by_slice, 0U);
  if (std::ranges::adjacent_find(by_slice, std::ranges::not_equal_to{}) != by_slice.end())
    return std::nullopt;
  std::vector<AxisRun> runs;
  if (by_slice.size() > 1) runs.push_back({0, static_cast<std::uint32_t>(by_slice.size())});
  if (by_slice.front() > 1) runs.push_back({1, by_slice.front()});
  return runs;
}

/// Runs that all groups have; std::nullopt if a group has no such shape, or another one.
std::optional<std::vector<AxisRun>> common_runs(const Groups& groups,
                                                const TopologyConfig& topology) {
  if (!is_grid(topology) && !joins_all_alike(topology)) return std::nullopt;
  const Lengths lengths = machine_axes(topology, {});
  std::optional<std::vector<AxisRun>> common;
  for (const std::vector<ChipId>& group : groups) {
    const auto runs = is_grid(topology) ? runs_on_grid(group, topology, lengths)
                                        : runs_of_alike(group, topology, lengths);
    if (!runs || (common && *common != *runs)) return std::nullopt;
    common = runs;
  }
  return common;
}

// --- Topologies of groups

std::uint32_t chips_within(const std::vector<AxisRun>& runs, std::size_t first) {
  std::uint32_t chips = 1;
  for (const AxisRun& run : runs)
    if (run.axis >= first) chips *= run.length;
  return chips;
}

bool is_across(const TopologyConfig& topology, const std::vector<AxisRun>& runs) {
  return topology.network && !runs.empty() && runs.front().axis == 0;
}

/// A grid of the runs: closed to a ring where every n-th chip of a ring is one.
topology::GridShape shape_of(const TopologyConfig& topology, const std::vector<AxisRun>& runs) {
  topology::GridShape shape;
  const std::size_t first = first_within(topology);
  for (const AxisRun& run : runs) {
    if (run.axis < first) continue;
    const std::size_t axis = run.axis - first;
    shape.lengths.push_back(run.length);
    shape.wraparound.push_back(topology.shape.wraparound[axis] &&
                               run.length * run.stride == topology.shape.lengths[axis]);
  }
  return shape;
}

TopologyConfig topology_of(const TopologyConfig& topology, const std::vector<AxisRun>& runs) {
  TopologyConfig group = topology;
  group.planned = nullptr;
  const std::size_t first = first_within(topology);
  const std::uint32_t within = chips_within(runs, first);
  if (!is_across(topology, runs))
    group.network.reset();
  else
    group.network->slices = runs.front().length;
  if (group.network && (within == 1 || within % group.network->chips_per_port != 0 ||
                        (joins_all_alike(topology) && within < topology.chips)))
    group.network->chips_per_port = 1;
  if (within == 1) {  // one chip of each slice
    group.kind = is_grid(topology) ? topology.kind : TopologyKind::mesh;
    group.shape = {{1}, {false}};
  } else if (joins_all_alike(topology)) {
    group.chips = within;
  } else if (is_grid(topology)) {
    group.shape = shape_of(topology, runs);
  }
  return group;
}

/// Lengths of the parts of a mesh along which the chips of groups lie; empty if they do not cover all
/// places of these parts.
Lengths numbering_of(const Groups& groups, const steps::Mesh& mesh) {
  if (!mesh.order.empty()) return {};
  std::optional<Lengths> common;
  for (const std::vector<ChipId>& group : groups) {
    Lengths lengths;
    std::size_t product = 1;
    for (const std::set<std::uint32_t>& coordinates : coordinates_of(group, mesh.machine)) {
      if (coordinates.size() > 1) lengths.push_back(static_cast<std::uint32_t>(coordinates.size()));
      product *= coordinates.size();
    }
    if (product != group.size() || (common && *common != lengths)) return {};
    common = std::move(lengths);
  }
  return common.value_or(Lengths{});
}

Lengths numbering_of(const steps::Mesh& mesh, const std::vector<std::size_t>& parts) {
  Lengths lengths;
  for (const std::size_t part : parts)
    if (mesh.machine[part] > 1) lengths.push_back(mesh.machine[part]);
  return lengths;
}

/// A group of no particular shape.
TopologyConfig shapeless(const TopologyConfig& topology, std::uint32_t chips) {
  TopologyConfig group;
  const bool on_switch = topology.kind == TopologyKind::on_switch && !topology.network;
  group.kind = on_switch ? TopologyKind::on_switch : TopologyKind::fully_connected;
  group.chips = chips;
  return group;
}

/// True if the messages of a group stay on its own links: along whole axes, or lines of
/// neighbours, whose shortest routes do not leave them.
bool own_links_within(const TopologyConfig& topology, const std::vector<AxisRun>& runs) {
  if (joins_all_alike(topology)) return true;
  if (!is_grid(topology))
    return chips_within(runs, first_within(topology)) == count_chips_of_slice(topology);
  return std::ranges::all_of(runs, [&](const AxisRun& run) {
    if (run.axis < first_within(topology)) return true;
    const std::size_t axis = run.axis - first_within(topology);
    const std::uint32_t whole = topology.shape.lengths[axis];
    const bool stays = run.length == whole || 2 * run.length <= whole ||
                       !topology::has_wraparound_links(topology.shape, axis);
    return run.stride == 1 && stays;
  });
}

bool own_links_of(const TopologyConfig& topology, const std::vector<AxisRun>& runs) {
  if (!own_links_within(topology, runs)) return false;
  return !is_across(topology, runs) || topology.network->chips_per_port == 1 ||
         chips_within(runs, 1) == count_chips_of_slice(topology);
}

/// True if the groups lie along parts of machine axes, so that no chip needs to be looked at.
bool is_along_parts(const TopologyConfig& topology, const steps::Mesh& mesh,
                    const steps::CollectiveCall& call) {
  if (call.groups || !mesh.order.empty()) return false;
  return is_grid(topology) || joins_all_alike(topology) || !mesh.is_divided();
}

/// Chips of the groups in rank order.
Groups listed_chips(const steps::Mesh& mesh, const steps::CollectiveCall& call,
                    const std::vector<steps::ChipLists>& lists) {
  Groups groups = call.groups ? lists[call.groups->lists].lists : mesh.groups_along(call.axes);
  for (std::vector<ChipId>& group : groups)
    for (ChipId& chip : group) chip = mesh.chip(chip);
  return groups;
}

/// Runs of the groups of a collective; std::nullopt if they have no shape.
std::optional<std::vector<AxisRun>> runs_of(const TopologyConfig& topology, const steps::Mesh& mesh,
                                            const steps::CollectiveCall& call,
                                            const std::vector<steps::ChipLists>& lists) {
  if (is_along_parts(topology, mesh, call))
    return runs_of(topology, mesh, mesh.machine_axes(call.axes));
  return common_runs(listed_chips(mesh, call, lists), topology);
}

/// Topology of a group with these runs, or of `chips` chips without a shape.
TopologyConfig topology_of(const TopologyConfig& topology,
                           const std::optional<std::vector<AxisRun>>& runs, std::uint32_t chips) {
  return runs ? topology_of(topology, *runs) : shapeless(topology, chips);
}

/// Likewise, with the numbering of the chips of a collective across slices.
TopologyConfig numbered(TopologyConfig group, const steps::Mesh& mesh,
                        const steps::CollectiveCall& call,
                        const std::vector<steps::ChipLists>& lists) {
  if (!group.network) return group;
  group.numbering = call.groups ? numbering_of(listed_chips(mesh, call, lists), mesh)
                                : numbering_of(mesh, mesh.machine_axes(call.axes));
  return group;
}

}  // namespace

std::vector<std::uint32_t> machine_axes(const TopologyConfig& topology,
                                        const std::vector<std::uint32_t>& mesh) {
  Lengths lengths;
  if (topology.network) lengths.push_back(topology.network->slices);
  Lengths within = {count_chips_of_slice(topology)};
  if (is_grid(topology)) within = topology.shape.lengths;
  if (joins_all_alike(topology)) within = divided(topology.chips, mesh);
  lengths.insert(lengths.end(), within.begin(), within.end());
  return lengths;
}

TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const std::vector<std::size_t>& parts) {
  TopologyConfig group = topology_of(topology, runs_of(topology, mesh, parts));
  if (group.network) group.numbering = numbering_of(mesh, parts);
  return group;
}

TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const steps::CollectiveCall& call,
                              const std::vector<steps::ChipLists>& lists) {
  return numbered(
      topology_of(topology, runs_of(topology, mesh, call, lists), steps::group_size(call, mesh)),
      mesh, call, lists);
}

bool has_own_links(const TopologyConfig& topology, const steps::Mesh& mesh,
                   const steps::CollectiveCall& call, const std::vector<steps::ChipLists>& lists) {
  const auto runs = runs_of(topology, mesh, call, lists);
  return runs && own_links_of(topology, *runs);
}

GroupPlace group_place(const TopologyConfig& topology, const steps::Mesh& mesh,
                       const steps::CollectiveCall& call,
                       const std::vector<steps::ChipLists>& lists) {
  const auto runs = runs_of(topology, mesh, call, lists);
  GroupPlace place{.topology = numbered(topology_of(topology, runs, steps::group_size(call, mesh)),
                                        mesh, call, lists),
                   .has_own_links = runs && own_links_of(topology, *runs),
                   .members = listed_chips(mesh, call, lists)};
  // Chips of a shape are numbered along its axes, as on the machine.
  if (runs)
    for (std::vector<ChipId>& group : place.members) std::ranges::sort(group);
  return place;
}

}  // namespace equarx::config
