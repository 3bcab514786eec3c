// Operations of a step, totalled.
#pragma once

#include <vector>

#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// Totals over all operations of the same name on the chip that computes longest, in the order of
/// their first use. Empty
/// unless the step trains or serves a model, as other operations are unnamed.
std::vector<OperationTotal> total_operations(const config::StepConfig& config);

}  // namespace equarx::step
