// From what the simulation says of a machine to what a result says of a collective.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Fills in what the simulation of one run of the program says: all but breakdown, speedup, phase and values.
void report_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, RunResult& run);

}  // namespace equarx::run
