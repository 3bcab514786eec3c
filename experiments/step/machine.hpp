// The machine that a whole step runs on.
#pragma once

#include "experiments/step/plan.hpp"

namespace equarx::step {

/// Gives a variant its machine, whose channels are those of its programs, and says of each program which of its ranks
/// every chip is. A few chips stand for all where each link has messages of one group only, and all chips do the same.
/// @throws input::InputError if chips can neither be simulated one by one nor stand for each other
void add_machine(const config::StepConfig& config, VariantPlan& variant);

}  // namespace equarx::step
