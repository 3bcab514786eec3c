// Lower bounds of the time of a step.
#pragma once

#include "experiments/step/plan.hpp"
#include "experiments/step/totals.hpp"

namespace equarx::step {

/// Returns the maximum of: the longest path through the tasks at their minimum times; the core
/// time; and the time the busiest link or HBM needs for its bytes. `totals`: of the variant
double lower_bound_s(const StepPlan& plan, const VariantPlan& variant, const StepTotals& totals);

/// Longest path through the tasks of one chip, the chip with the longest, if task i takes `seconds[i]`
/// on the chips that run it.
double longest_path_s(const config::StepConfig& config, const std::vector<double>& seconds);

}  // namespace equarx::step
