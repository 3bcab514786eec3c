// Tensors of a step that are written to files.
#pragma once

#include <vector>

#include "experiments/run/tensor_files.hpp"
#include "experiments/step/plan.hpp"

namespace equarx::step {

/// Returns the collectives with values, in the order of `plan.config.calls`, with a result for each
/// variant. Sets are named after the group of tasks, followed by " 1", " 2", ... if the group has
/// several distinct collectives. The plan must outlive the sets.
/// @throws input::InputError if there are none, or if not every element is computed
std::vector<run::TensorSet> tensor_sets(const StepPlan& plan);

}  // namespace equarx::step
