// Errors of a step's collectives, computed on their configured values.
#pragma once

#include <functional>
#include <string>

#include "experiments/run/tensor_files.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// Executes every collective with values, in each variant, and sets the values of its collectives and
/// the errors of its groups and of the variant. Variants that share an implementation share its
/// result. `progress`: called with a line for each collective; `threads`: 0 for one per core; `tensors`:
/// files with the sets of tensor_sets() that receive the results, or null.
/// @throws input::InputError if this computer lacks the memory, input::InvariantError as
/// run::check_values()
void add_errors(const StepPlan& plan, const std::function<void(const std::string&)>& progress,
                unsigned threads, run::TensorFiles* tensors, StepResult& result);

}  // namespace equarx::step
