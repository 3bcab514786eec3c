// From the algorithm that a configuration names to its program.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/obstacle.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::plan {

/// Why the algorithm cannot run on so many chips, or on this kind of topology, as a clause; empty if it
/// can. (Whether there is a ring is found elsewhere.)
std::string why_not(config::Algorithm algorithm, const config::ExperimentConfig& config);

/// How ranks are numbered. An obstacle at `pointer` if why_not(), naming the algorithms that can run.
OrObstacle<collectives::RankGrid> rank_grid(config::Algorithm algorithm,
                                            const config::ExperimentConfig& config,
                                            const std::string& pointer);

/// What the program of a collective is made from.
collectives::ProgramRequest program_request(const config::CollectiveConfig& collective,
                                            const collectives::RankGrid& grid,
                                            const config::ExperimentConfig& config);

/// @throws std::invalid_argument if the tensor has too few elements for it.
collectives::Program make_program(const config::CollectiveConfig& collective,
                                  const collectives::RankGrid& grid,
                                  const config::ExperimentConfig& config);

}  // namespace equarx::plan
