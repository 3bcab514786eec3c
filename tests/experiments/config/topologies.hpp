// Topologies for tests of configurations.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/steps/mesh.hpp"

namespace equarx::config::topologies {

inline TopologyConfig torus() {
  TopologyConfig topology;
  topology.kind = TopologyKind::torus;
  topology.shape = {{4, 2, 8}, {true, false, true}};
  return topology;
}

inline TopologyConfig slices(TopologyConfig slice) {
  slice.network = NetworkConfig{.slices = 3,
                                .bandwidth = {.value = 25e9, .source = {}},
                                .latency = {.value = 1e-6, .source = {}},
                                .chips_per_port = 2};
  return slice;
}

inline TopologyConfig node() {
  TopologyConfig topology;
  topology.kind = TopologyKind::fully_connected;
  topology.chips = 8;
  return topology;
}

/// A mesh with an axis of its own for each machine axis.
inline steps::Mesh whole(const std::vector<std::uint32_t>& machine) {
  steps::Mesh mesh{.machine = machine, .axes = {}};
  for (std::size_t axis = 0; axis < machine.size(); ++axis)
    mesh.axes.push_back({"a" + std::to_string(axis), machine[axis], {axis}});
  return mesh;
}

}  // namespace equarx::config::topologies
