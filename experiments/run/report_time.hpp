// Converts the simulation's result for a machine into the result of a collective.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Fills in all fields that follow from simulating one run of the program: all but breakdown,
/// speedup, phase and values.
void report_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, RunResult& run);

}  // namespace equarx::run
