#pragma once

#include "experiments/plan/plan.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Where the time of a run goes, as its busiest link direction sees it: that which needs longest for its bytes, as
/// the lower bound has it unless an HBM needs longer. The parts add up to the time.
struct Breakdown {
  double payload_s = 0.0;   ///< the link moves elements
  double scales_s = 0.0;    ///< the link moves scales
  double overhead_s = 0.0;  ///< it is held by the synchronisation before quantized steps
  double startup_s = 0.0;   ///< chips start the collective, and nothing moves yet
  double bubbles_s = 0.0;  ///< it waits: for latency, vector work, barriers, a pipeline that fills,
                           ///< or moves nothing, or less, because messages share a link further
                           ///< on or HBM
};

/// `runs`: how often the program ran within that time.
Breakdown break_down(const plan::CollectivePlan& plan, double time_s, std::uint32_t runs = 1);

}  // namespace equarx::run
