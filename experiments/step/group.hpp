// A collective of a step as a stand-alone experiment of one of its groups.
#pragma once

#include "experiments/config/step.hpp"

namespace equarx::step {

/// Returns the experiment of a single group. `call`: one of `config.calls`; its tensor has the
/// configured values, if any.
config::ExperimentConfig group_experiment(const config::StepConfig& config,
                                          const config::StepCall& call,
                                          const config::CollectiveConfig& collective);

}  // namespace equarx::step
