// Lower bounds on a candidate's time, computed without simulating it.
#pragma once

#include "experiments/plan/plan.hpp"
#include "experiments/tune/space.hpp"

namespace equarx::tune {

/// Bound in seconds without a program: busiest link's bytes / rate plus its per-hop sync time. The
/// elements per link come from the scheme; each costs at least its bits and its share of the
/// scales. Valid for any number of microshards, which only add bytes.
double traffic_bound_s(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                       numerics::ElementFormat dtype);

/// Core time in seconds of the slowest chip; 0 if ranks differ. A bound on the times of the family with
/// more microshards, too, which only add instructions, on chips without workgroups.
double core_bound_s(const plan::CollectivePlan& plan);

/// Core time in seconds that each microshard of a minishard adds to core_bound_s(), at least: its
/// messages are started and awaited, and its instructions issued. `plan`: with one microshard
double core_of_microshard_s(const plan::CollectivePlan& plan, const hardware::Chip& chip);

/// Bound in seconds: the program's instructions in sequence on a machine without contention. Every
/// core is as fast as the fastest, every message of a channel takes the best route of all ranks and
/// waits only for earlier messages of its channel. By induction over the instruction stream no rank
/// finishes an instruction earlier. On a uniform ring, where all ranks run in lockstep, the bound
/// equals the simulated time up to rounding. At least core_bound_s() and the time of the busiest
/// link's bytes.
double program_bound_s(const plan::CollectivePlan& plan);

}  // namespace equarx::tune
