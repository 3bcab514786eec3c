// Work of all chips in a step, for its energy.
#pragma once

#include "experiments/step/plan.hpp"
#include "experiments/step/totals.hpp"
#include "models/hardware/energy.hpp"

namespace equarx::step {

/// Activity of all chips of the mesh in a step of `time_s`: of operations, of the instructions and
/// messages of collectives, and of host transfers. `totals`: of the variant
hardware::Activity activity_of(const StepPlan& plan, const VariantPlan& variant,
                               const StepTotals& totals, double time_s);

}  // namespace equarx::step
