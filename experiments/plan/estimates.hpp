// How large a program and its simulation will be, before either is made.
#pragma once

#include "experiments/config/config.hpp"
#include "models/collectives/rank_grid.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {

/// About how many messages a rank sends; 0 if the tensor has too few elements for the program.
double estimate_messages(const config::CollectiveConfig& collective,
                         const collectives::RankGrid& grid, const config::ExperimentConfig& config);

/// About how long an engine takes for `messages` of the collective, in seconds on this kind of computer.
double estimate_simulation_s(const config::CollectiveConfig& collective,
                             const collectives::RankGrid& grid,
                             const config::ExperimentConfig& config, sim::Engine engine,
                             double messages);

}  // namespace equarx::plan
