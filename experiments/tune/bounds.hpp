// Times that no run of a candidate can fall below, found without simulating it.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/tune/space.hpp"

namespace equarx::tune {

/// Before there is a program: the busiest link's bytes over its rate, and its synchronisations. Elements
/// are those of the scheme; each takes at least its bits, and its share of the scales. For any number of
/// microshards, which only add bytes.
double traffic_bound_s(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                       numerics::ElementFormat dtype);

/// The program's instructions one after the other, on a machine where nobody is in anybody's way: every core
/// is as fast as the fastest, every message of a channel takes the best of all ranks' ways, and waits
/// for those before it in its channel alone. By induction along the list no rank ends an instruction
/// earlier, whatever shares its links. On a uniform ring, where all ranks do the same at the same time,
/// it is the time itself, but for rounding.
/// And not less than the core time of the slowest chip, or than the bytes of the busiest link.
double program_bound_s(const plan::CollectivePlan& plan);

/// Of a workload's phase on all `chips`, of which `allreduce_s` bounds each AllReduce. Computing may hide them.
double phase_bound_s(const config::ExperimentConfig& config, const plan::WorkloadPlan& workload,
                     std::uint32_t chips, double allreduce_s);

/// A phase of AllReduces that each take `allreduce_s`, none of which overlaps with computing, if no chip begins
/// one before the slowest is ready.
double phase_in_step_s(const config::ExperimentConfig& config, const plan::WorkloadPlan& workload,
                       std::uint32_t chips, double allreduce_s);

}  // namespace equarx::tune
