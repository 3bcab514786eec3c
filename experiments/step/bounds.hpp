// Lower bounds of the time of a step.
#pragma once

#include "experiments/step/plan.hpp"
#include "sim/timeline.hpp"

namespace equarx::step {

/// Returns the maximum of: the longest path through the tasks at their minimum times; the core
/// time; and the time the busiest link or HBM needs for its bytes. `bytes` is link_bytes() of the
/// timelines.
double lower_bound_s(const StepPlan& plan, const VariantPlan& variant,
                     const sim::Timelines& timelines, const std::vector<std::uint64_t>& bytes);

/// Returns the bytes per link: messages of all chips, and HBM accesses of cores.
std::vector<std::uint64_t> link_bytes(const sim::Timelines& timelines, const sim::Machine& machine);

}  // namespace equarx::step
