// Intervals of a served load: the same requests on machines with other parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/serve/step_costs.hpp"
#include "experiments/variation/variation.hpp"
#include "models/serving/requests.hpp"
#include "models/serving/simulation.hpp"

namespace equarx::serve {

struct ServeResult;

/// Central 68 % intervals of a distribution, in s.
struct LatencyIntervals {
  variation::Interval mean;
  variation::Interval p50;
  variation::Interval p90;
  variation::Interval p99;
};

/// Central 68 % intervals of a load, over sampled machines.
struct LoadIntervals {
  std::uint32_t samples = 0;
  LatencyIntervals ttft;
  LatencyIntervals tpot;
  LatencyIntervals itl;
  variation::Interval requests_per_s;
  variation::Interval output_tokens_per_s;
  std::optional<variation::Interval> dollars_per_million = {};  ///< output tokens, with a price
};

/// Options of intervals. None changes them.
struct IntervalOptions {
  unsigned threads = 1;
  std::function<void(double share)> progress = {};
};

/// Work of a sample in simulated messages, for variation::with_default_samples().
double work_of_sample(const serving::Outcome& outcome, const StepCosts& costs,
                      const StepCosts* prefill);

/// True if a parameter of the machine is uncertain, or the spread of measured steps is known.
bool is_uncertain(const config::PoolConfig& pool);

/// Factor of all times of steps in sample `number`, with the spread of measured prefills and decoding
/// steps.
double step_factor(std::uint64_t seed, std::uint64_t number);

/// Draw `number` of a pool's machine. `pools_before`: with other chips, whose draws are independent
config::PoolConfig sampled_pool(config::PoolConfig pool, std::uint64_t seed, std::uint64_t number,
                                std::uint64_t pools_before = 0);

/// Serves `requests` on as many sampled_pool() as the configuration requests, whose steps take
/// step_factor() times as long. std::nullopt if nothing is uncertain. `costs`, `prefill`: of the
/// nominal machines
std::optional<LoadIntervals> intervals(const ServeResult& nominal,
                                       const std::vector<serving::Request>& requests,
                                       const StepCosts& costs, const StepCosts* prefill,
                                       const IntervalOptions& options);

}  // namespace equarx::serve
