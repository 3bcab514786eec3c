// From the topology that a user asks for to chips and links.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/hardware/chip.hpp"
#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {

/// The JSON pointer of a configuration's topology.
inline const std::string kTopologyPlace = "/topology";

/// Of one direction of a cable.
struct LinkSpeed {
  double rate = 0.0;       ///< payload bytes per second
  double latency_s = 0.0;  ///< per hop
};

/// The chips and links of a topology, with the speed of each link.
struct PlannedTopology {
  topology::Topology graph;
  std::optional<topology::GridShape> shape;  ///< if it is a grid
  std::vector<LinkSpeed> links;              ///< by topology::LinkId
  /// Where a network joins several slices, what each of them is: its chips and links, with rising ids, slice by slice,
  /// are the graph's. The network has no cables.
  std::shared_ptr<const PlannedTopology> slice = nullptr;
};

/// Chips of a topology, of all slices, without building it. @throws InputError for a shape that is not valid.
std::uint32_t count_chips(const TopologyConfig& config);
/// Chips of one slice. @throws likewise
std::uint32_t count_chips_of_slice(const TopologyConfig& config);

/// Whether it has axes: a slice, mesh, torus or ring; or whether the slices have that a network joins.
bool is_grid(const TopologyConfig& config);

/// The chips and links. @throws InputError for more chips than can be simulated one by one.
PlannedTopology plan_topology(const TopologyConfig& config, const hardware::Chip& chip);

/// Why its chips cannot be simulated one by one, as a clause; empty if they can.
std::string why_not_chip_by_chip(const TopologyConfig& config);

/// plan_topology(), made when it is first asked for and kept in the configuration and its later copies.
const PlannedTopology& planned_topology(TopologyConfig& config, const hardware::Chip& chip);

/// Links that leave a chip; of a graph, the chip that has most.
std::size_t links_of_chip(const TopologyConfig& config);

/// "slice 4x2"
std::string topology_text(const TopologyConfig& config);

}  // namespace equarx::config
