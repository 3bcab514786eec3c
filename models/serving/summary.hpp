// Latencies and rates of a simulated load.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/serving/simulation.hpp"

namespace equarx::serving {

/// Mean and percentiles; interpolated linearly between ranks. All 0 without values.
struct Distribution {
  double mean = 0.0;
  double p50 = 0.0;
  double p90 = 0.0;
  double p99 = 0.0;
  double most = 0.0;
};

Distribution distribution(std::vector<double> values);

/// Latencies in s, rates per s.
struct Summary {
  Distribution ttft;     ///< time to first token
  Distribution tpot;     ///< time per output token after the first, by request
  Distribution itl;      ///< inter-token latency, by token
  Distribution latency;  ///< arrival to last token
  double requests_per_s = 0.0;
  double output_tokens_per_s = 0.0;
  double total_tokens_per_s = 0.0;      ///< prompts and outputs
  double tokens_per_s_per_user = 0.0;   ///< 1 / mean TPOT; 0 if all outputs are single tokens
  double utilization = 0.0;             ///< share of the time with a running step, of all replicas
  double mean_batch = 0.0;              ///< tokens decoded per step
  std::array<double, kStates> spent{};  ///< share of the latency by state, over all requests
  double preemptions = 0.0;
  double hit_rate = 0.0;  ///< share of the tokens of prompts that were found in a cache
};

/// Rates are from the first arrival to the last token.
Summary summarize(const Outcome& outcome, const System& system);

}  // namespace equarx::serving
