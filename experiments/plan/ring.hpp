// Rings through all chips of a topology.
#pragma once

#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/obstacle.hpp"
#include "topologies/grid.hpp"
#include "topologies/ring_search.hpp"

namespace equarx::plan {

/// Looks for a ring through all chips that uses none of the cables to avoid.
topology::RingSearch search_ring(const config::TopologyConfig& config,
                                 const config::PlannedTopology& topology);

/// Chips in the order of a ring through all of them.
using Ring = std::vector<topology::ChipId>;

/// A ring through all chips of a grid, if there is one.
OrObstacle<Ring> grid_ring(const topology::GridShape& shape);

/// search_ring() for collectives that need one. An obstacle says why there is none, or that the search gave
/// up, and which cables were avoided.
OrObstacle<Ring> plan_ring(const config::TopologyConfig& config,
                           const config::PlannedTopology& topology);

}  // namespace equarx::plan
