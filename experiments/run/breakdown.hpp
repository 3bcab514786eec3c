#pragma once

#include <cstdint>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Splits the time of a run by the state of its busiest link direction: the one with the longest
/// bytes / rate, which sets the lower bound unless an HBM is slower. The parts add up to the time.
struct Breakdown {
  double payload_s = 0.0;  ///< moving elements
  double scales_s = 0.0;   ///< moving scales
  double sync_s = 0.0;     ///< held by the per-hop synchronisation before quantized steps
  double startup_s = 0.0;  ///< nothing moves yet: chips start the collective
  double idle_s = 0.0;     ///< it waits: for latency, vector work, barriers, a pipeline that fills,
                           ///< or moves nothing, or less, because messages share a link further
                           ///< on or HBM
};

/// Breakdown of one run of the program in `time_s`. `link_bytes`: sim::link_bytes() of the plan
Breakdown break_down(const plan::CollectivePlan& plan, const std::vector<std::uint64_t>& link_bytes,
                     double time_s);

}  // namespace equarx::run
