// Machine model of a step.
#pragma once

#include "experiments/step/plan.hpp"

namespace equarx::step {

/// Sets the machine of a variant, with the channels of all its programs, and the rank of every chip
/// in each program. Simulates representative chips only if all chips behave alike and every link
/// carries messages of one group only; one chip of each class where chips differ in tasks or are
/// joined by a network (sim/classes.hpp).
/// @throws input::InputError if the chips can neither be simulated individually nor by
/// representatives
void add_machine(const config::StepConfig& config, VariantPlan& variant);

}  // namespace equarx::step
