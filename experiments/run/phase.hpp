// The time of a transformer's phase.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Simulates a phase on representative chips. All chips begin and end every layer together with
/// nothing in flight, so identical layers take the same time and only one of each kind is
/// simulated.
sim::TimeResult simulate_layers(const plan::CollectivePlan& plan,
                                const plan::WorkloadPlan& workload);

/// Compute time of the slowest chip, in seconds.
double compute_time_s(const plan::WorkloadPlan& workload, const sim::Machine& machine);

/// Splits the `time_s` seconds of a phase into compute and AllReduces.
PhaseResult report_phase(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                         double time_s);

/// Lower bound of a phase: the sum of compute and the AllReduces' bounds if all chips run in
/// lockstep, which identical chips do without overlap; else the larger, as links may be busy during
/// compute.
double phase_bound_s(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                     double allreduce_bound_s);

}  // namespace equarx::run
