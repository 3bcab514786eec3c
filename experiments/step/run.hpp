// Runs a planned step.
#pragma once

#include <functional>
#include <string>

#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// Told what is done next, for who waits.
using Progress = std::function<void(const std::string&)>;

/// Simulates all variants, and checks each: never below its lower bound, no byte or message lost.
/// @throws input::InvariantError if a check fails
StepResult run_step(const StepPlan& plan, const Progress& progress);

}  // namespace equarx::step
