// Where the ranks of a collective are, and which cables lead from chip to chip.
#pragma once

#include <vector>

#include "experiments/config/topology.hpp"
#include "experiments/plan/machine.hpp"
#include "models/collectives/rank_grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::plan {

/// The chip of each rank. `site` is prepared for the algorithm.
std::vector<topology::ChipId> place_ranks(config::Algorithm algorithm,
                                          const collectives::RankGrid& grid, const Site& site);

/// The cables from one chip to another, in order; of the same slice, if a network joins several.
std::vector<topology::LinkId> cables_between(const config::PlannedTopology& topology,
                                             topology::ChipId from, topology::ChipId to);

}  // namespace equarx::plan
