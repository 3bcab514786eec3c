// A collective of a step, seen from one of its groups: an experiment of its own.
#pragma once

#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/plan/plan.hpp"
#include "topologies/topology.hpp"

namespace equarx::step {

/// The experiment of one group alone. `axes`: of the machine.
config::ExperimentConfig group_experiment(const config::StepConfig& config,
                                          const config::StepCall& call,
                                          const config::CollectiveConfig& collective);

/// The chip of each rank, as a chip of the group. @throws input::InputError if there is no ring to place them on
std::vector<topology::ChipId> places_in_group(const config::StepConfig& config,
                                              const std::vector<std::size_t>& axes,
                                              const plan::CollectivePlan& plan);

}  // namespace equarx::step
