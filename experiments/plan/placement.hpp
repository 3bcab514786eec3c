// Placement of ranks on chips, and routes between chips.
#pragma once

#include <vector>

#include "experiments/config/topology.hpp"
#include "experiments/plan/machine.hpp"
#include "models/collectives/rank_grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::plan {

/// Returns the chip of each rank. `context` must be prepared for the algorithm.
std::vector<topology::ChipId> place_ranks(config::Algorithm algorithm,
                                          const collectives::RankGrid& grid,
                                          const MachineContext& context);

/// Returns the link directions from one chip to another, in order; both in the same slice, if a
/// network joins several.
std::vector<topology::LinkId> cables_between(const config::PlannedTopology& topology,
                                             topology::ChipId from, topology::ChipId to);

}  // namespace equarx::plan
