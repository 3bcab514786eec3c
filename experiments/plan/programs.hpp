// Generates programs for the algorithms that configurations name.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/infeasible.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::plan {

/// True if `auto` and `tune` consider the algorithm: those of a switch only on one, and no ring over
/// a network.
bool is_considered(config::Algorithm algorithm, const config::TopologyConfig& topology);

/// Returns why the algorithm cannot run on this number of chips or kind of topology, as a clause;
/// empty if it can. Does not check for a ring.
std::string why_not(config::Algorithm algorithm, const config::ExperimentConfig& config);

/// Returns the rank grid. Infeasible at `pointer`, listing the algorithms that can run, if
/// why_not().
Expected<collectives::RankGrid> rank_grid(config::Algorithm algorithm,
                                          const config::ExperimentConfig& config,
                                          const std::string& pointer);

/// Rows of tiles in which workgroups run the algorithm's kernel; 0 if the chip has no workgroups,
/// the algorithm is no such kernel, or it is part of a step, whose streams have one core.
std::uint32_t rows_of_tiles(const config::CollectiveConfig& collective,
                            const config::ExperimentConfig& config);

/// Inputs of the program generator.
collectives::ProgramRequest program_request(const config::CollectiveConfig& collective,
                                            const collectives::RankGrid& grid,
                                            const config::ExperimentConfig& config);

/// Generates the program. @throws std::invalid_argument if the tensor has too few elements.
collectives::Program make_program(const config::CollectiveConfig& collective,
                                  const collectives::RankGrid& grid,
                                  const config::ExperimentConfig& config);

}  // namespace equarx::plan
