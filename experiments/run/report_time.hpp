// Converts the simulation's result for a machine into the result of a collective.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Returns all fields that follow from simulating the program once: all but speedup, interval,
/// candidates and values. A failed run has no breakdown. @throws InvariantError as check_time()
RunResult report_time(const plan::CollectivePlan& plan, const sim::TimeResult& time);

}  // namespace equarx::run
