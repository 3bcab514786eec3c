// The time of a transformer's phase.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// A phase on representatives. All chips begin and end every layer together, with nothing under way; so
/// layers that are alike take the same time, and one of each kind is simulated.
sim::TimeResult simulate_layers(const plan::CollectivePlan& plan,
                                const plan::WorkloadPlan& workload);

/// Computing, of the chip that takes longest, in seconds.
double compute_time_s(const plan::WorkloadPlan& workload, const sim::Machine& machine);

/// Where the time of a phase that took `time_s` seconds goes.
PhaseResult report_phase(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                         double time_s);

/// Computing and the AllReduces' bytes: one after the other where all chips are alike, and therefore in
/// step. Elsewhere, and with overlap, some links may be busy while a chip computes.
double phase_bound_s(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                     double allreduce_bound_s);

}  // namespace equarx::run
