// Hamiltonian rings of a topology.
#pragma once

#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/infeasible.hpp"
#include "topologies/grid.hpp"
#include "topologies/ring_search.hpp"

namespace equarx::plan {

/// Searches for a ring through all chips that avoids the excluded links.
topology::RingSearch search_ring(const config::TopologyConfig& config,
                                 const config::PlannedTopology& topology);

/// Chips in the order of a ring through all of them.
using Ring = std::vector<topology::ChipId>;

/// Ring through all chips of a grid, or why there is none.
Expected<Ring> grid_ring(const topology::GridShape& shape);

/// search_ring() for collectives that need a ring. The failure states whether none exists or none
/// was found, and the avoided links.
Expected<Ring> plan_ring(const config::TopologyConfig& config,
                         const config::PlannedTopology& topology);

}  // namespace equarx::plan
