// The largest rate at which a replica meets its limits of latency, by simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/capacity/request.hpp"
#include "models/serving/simulation.hpp"

namespace equarx::capacity {

/// A replica under a load.
struct OperatingPoint {
  double requests_per_s = 0.0;
  double ttft_s = 0.0;  ///< at the percentile of the request
  double tpot_s = 0.0;  ///< likewise
  double output_tokens_per_s = 0.0;
  double tokens_per_s_per_user = 0.0;  ///< 1 / mean time per token
  double utilization = 0.0;

  bool meets(const Request& request) const {
    return ttft_s <= request.ttft_s && tpot_s <= request.tpot_s;
  }
};

/// Simulates the load of `system` at a rate.
OperatingPoint simulate_at(const Request& request, serving::System system, double requests_per_s);

/// Largest rate, to 2 %, that meets the limits, with the points simulated on the way, by rising
/// rate; empty if even a hundredth of `estimate` misses them. `estimate`: rate of the steady state,
/// which no rate exceeds for long
std::vector<OperatingPoint> largest_rate(const Request& request, const serving::System& system,
                                         double estimate);

}  // namespace equarx::capacity
