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

/// Bound in seconds: the program's instructions in sequence on a machine without contention. Every
/// core is as fast as the fastest, every message of a channel takes the best route of all ranks and
/// waits only for earlier messages of its channel. By induction over the instruction stream no rank
/// finishes an instruction earlier. On a uniform ring, where all ranks run in lockstep, the bound
/// equals the simulated time up to rounding. At least the core time of the slowest chip and the
/// time of the busiest link's bytes.
double program_bound_s(const plan::CollectivePlan& plan);

}  // namespace equarx::tune
