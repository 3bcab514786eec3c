// Where the groups of a collective lie on a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {

/// Chips of a group along a machine axis: `length` chips that are `stride` apart.
struct AxisRun {
  std::size_t axis = 0;
  std::uint32_t length = 1;
  std::uint32_t stride = 1;

  bool operator==(const AxisRun&) const = default;
};

/// The groups of a collective, each seen as a machine of its own.
struct GroupPlace {
  /// Topology of one group: a sub-slice, a line or ring of every n-th chip, a part of a node, or
  /// such parts of several slices. Of groups with no such shape: fully connected.
  TopologyConfig topology;
  /// True if no link or network port serves two groups, so that one represents all.
  bool has_own_links = true;
  /// Chips of each group, in the order of the chips of `topology`.
  std::vector<std::vector<topology::ChipId>> members = {};
};

/// Lengths of the machine axes that a mesh is mapped to: slices, if a network joins them, then the
/// axes of a grid. Other topologies have a single axis, except that a fully connected one, or one on
/// a switch, divides into such groups in any way: its axes are the last mesh axes, if they divide
/// it. `mesh`: lengths of the mesh axes.
std::vector<std::uint32_t> machine_axes(const TopologyConfig& topology,
                                        const std::vector<std::uint32_t>& mesh);

/// Topology of a group that spans some parts of machine axes: entries of `mesh.machine`, ascending.
TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const std::vector<std::size_t>& parts);

/// Topology of a collective's group, without enumerating chips if the groups lie along axes.
TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const steps::CollectiveCall& call,
                              const std::vector<steps::ChipLists>& lists);

/// True if no link or network port serves two groups of a collective.
bool has_own_links(const TopologyConfig& topology, const steps::Mesh& mesh,
                   const steps::CollectiveCall& call, const std::vector<steps::ChipLists>& lists);

/// Groups of a collective and their chips. `lists`: of the step.
GroupPlace group_place(const TopologyConfig& topology, const steps::Mesh& mesh,
                       const steps::CollectiveCall& call,
                       const std::vector<steps::ChipLists>& lists);

}  // namespace equarx::config
