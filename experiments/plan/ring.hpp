// Rings through all chips of a topology.
#pragma once

#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/topology.hpp"
#include "topologies/grid.hpp"
#include "topologies/ring_search.hpp"

namespace equarx::plan {

/// Looks for a ring through all chips that uses none of the cables to avoid.
topology::RingSearch search_ring(const config::TopologyConfig& config,
                                 const config::PlannedTopology& topology);

/// A ring through all chips of a grid. @throws InputError at /topology if there is none.
std::vector<topology::ChipId> grid_ring(const topology::GridShape& shape);

/// search_ring() for collectives that need one. @throws InputError at /topology, saying why there is
/// none, or that the search gave up, and which cables were avoided.
std::vector<topology::ChipId> plan_ring(const config::TopologyConfig& config,
                                        const config::PlannedTopology& topology);

}  // namespace equarx::plan
