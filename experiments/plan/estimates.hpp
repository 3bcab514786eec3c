// How large a program and its simulation will be, before either is made.
#pragma once

#include "experiments/config/config.hpp"
#include "models/collectives/rank_grid.hpp"

namespace equarx::plan {

/// About how many messages a rank sends; 0 if the tensor has too few elements for the program.
double estimate_messages(const config::CollectiveConfig& collective,
                         const collectives::RankGrid& grid, const config::ExperimentConfig& config);

/// About how long a simulation of all chips takes on this kind of computer, in seconds.
double estimate_simulation_s(const config::CollectiveConfig& collective,
                             const collectives::RankGrid& grid,
                             const config::ExperimentConfig& config);

}  // namespace equarx::plan
