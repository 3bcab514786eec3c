// Builds chips and links from a topology configuration.
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
inline const std::string kTopologyPointer = "/topology";

/// Speed of one direction of a link.
struct LinkSpeed {
  double rate = 0.0;       ///< payload bytes per second
  double latency_s = 0.0;  ///< per hop; on a switch all of it in the direction to the switch
};

/// Chips and links of a topology, with the speed of each link.
struct PlannedTopology {
  topology::Topology graph;
  std::optional<topology::GridShape> shape;  ///< if the topology is a grid
  std::vector<LinkSpeed> links;              ///< by topology::LinkId
  /// With a network: one slice. The graph then holds the chips and links of all slices, in rising
  /// ids, slice by slice; the network adds no links.
  std::shared_ptr<const PlannedTopology> slice = nullptr;
};

/// Counts the chips of a topology, over all slices, without building it. @throws InputError for an
/// invalid shape.
std::uint32_t count_chips(const TopologyConfig& config);
/// Counts the chips of one slice. @throws like count_chips().
std::uint32_t count_chips_of_slice(const TopologyConfig& config);

/// True if the topology (with a network: each slice) has axes: a slice, mesh, torus or ring.
bool is_grid(const TopologyConfig& config);

/// True if all pairs of chips (with a network: of each slice) are joined alike, so that any group of
/// them is a topology of the same kind: fully connected, or on a switch.
bool joins_all_alike(const TopologyConfig& config);

/// Builds chips and links. @throws InputError for more chips than can be simulated one by one.
PlannedTopology plan_topology(const TopologyConfig& config, const hardware::Chip& chip);

/// Returns why the chips cannot be simulated one by one, as a clause; empty if they can.
std::string why_not_chip_by_chip(const TopologyConfig& config);

/// Cached plan_topology(): stored in the configuration and shared with later copies.
const PlannedTopology& planned_topology(TopologyConfig& config, const hardware::Chip& chip);

/// Maximum number of links of a chip; on a switch, those of its port.
std::size_t links_of_chip(const TopologyConfig& config, const hardware::Chip& chip);

/// "slice 4x2"
std::string topology_text(const TopologyConfig& config);

}  // namespace equarx::config
