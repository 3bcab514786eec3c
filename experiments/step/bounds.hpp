// What the time of a step cannot be below.
#pragma once

#include "experiments/step/plan.hpp"
#include "sim/timeline.hpp"

namespace equarx::step {

/// The largest of: the longest path through the tasks, where each takes as long as it must alone; the core's time; and
/// what the busiest link (or HBM) needs for all its bytes. `bytes`: link_bytes() of the timelines
double lower_bound_s(const StepPlan& plan, const VariantPlan& variant,
                     const sim::Timelines& timelines, const std::vector<std::uint64_t>& bytes);

/// Bytes that cross each link: of all that chips send, and of what cores access of HBM.
std::vector<std::uint64_t> link_bytes(const sim::Timelines& timelines, const sim::Machine& machine);

}  // namespace equarx::step
