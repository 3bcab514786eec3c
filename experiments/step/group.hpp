// A collective of a step, seen from one of its groups: an experiment of its own.
#pragma once

#include "experiments/config/step.hpp"

namespace equarx::step {

/// The experiment of one group alone.
config::ExperimentConfig group_experiment(const config::StepConfig& config,
                                          const config::StepCall& call,
                                          const config::CollectiveConfig& collective);

}  // namespace equarx::step
