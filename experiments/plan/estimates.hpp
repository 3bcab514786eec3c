// Size estimates of a program and its simulation, before either is created.
#pragma once

#include <cstdint>

#include "experiments/config/config.hpp"
#include "models/collectives/rank_grid.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {

/// Estimates the messages per rank; 0 if the tensor has too few elements for the program.
double estimate_messages(const config::CollectiveConfig& collective,
                         const collectives::RankGrid& grid, const config::ExperimentConfig& config);

/// Estimates the chips that the direct engine simulates of an exchange between all ranks: one for
/// each class on a torus, else all. Offsets between ranks cross the border of the shortest axis at
/// other places for each of its chips; ties between directions alternate.
std::uint32_t estimate_classes(config::Algorithm algorithm, const collectives::RankGrid& grid,
                               const config::ExperimentConfig& config);

/// Estimates the time an engine takes for `messages` of the collective, in seconds on a computer of
/// this kind.
double estimate_simulation_s(const config::CollectiveConfig& collective,
                             const collectives::RankGrid& grid,
                             const config::ExperimentConfig& config, sim::Engine engine,
                             double messages);

/// Estimates how long one core takes to run the experiment, in seconds: the simulations and values of
/// all candidates. Infeasible candidates take no time. @throws InputError if a workload does not fit
/// the chips
double estimate_experiment_s(const config::ExperimentConfig& config);

}  // namespace equarx::plan
