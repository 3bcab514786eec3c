// Runs a planned step.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// Told what is done next, for who waits.
using Progress = std::function<void(const std::string&)>;

/// Simulates a variant of a planned step, and checks it as run_step() does. Its speedup is 1.
VariantResult run_variant(const StepPlan& plan, const VariantPlan& variant,
                          const std::string& label);

/// Sets the speedups of variants over one of them.
void set_speedups(std::vector<VariantResult>& variants, std::size_t baseline);

/// Simulates all variants, and checks each: never below its lower bound, no byte or message lost.
/// @throws input::InvariantError if a check fails
StepResult run_step(const StepPlan& plan, const Progress& progress);

}  // namespace equarx::step
