// Serves a load: simulated steps, a scheduler, and the latencies of all requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "experiments/config/serving.hpp"
#include "experiments/serve/intervals.hpp"
#include "experiments/serve/step_costs.hpp"
#include "models/serving/simulation.hpp"
#include "models/serving/summary.hpp"

namespace equarx::serve {

/// Memory of a chip of a pool, in bytes.
struct PoolMemory {
  double weights = 0.0;
  double activations = 0.0;  ///< of a step with as many positions as the scheduler allows
  double cache = 0.0;        ///< left for the KV cache
  double positions = 0.0;    ///< that the KV cache of a replica can hold
};

/// Memory of the chips of a pool for prompts of up to `longest` positions.
/// @throws input::DoesNotFitError at `pointer` if there is none left for the KV cache
PoolMemory pool_memory(const config::PoolConfig& pool, std::uint64_t longest,
                       const std::string& pointer);

/// The replicas of a pool, whose steps take the times of `costs`, which must outlive them.
serving::Pool pool_of(const config::PoolConfig& config, const PoolMemory& memory,
                      const StepCosts& costs);

/// The system of both pools. `prefill`: without one, unused
serving::System system_of(const config::ServingConfig& config, serving::Pool pool,
                          std::optional<serving::Pool> prefill);

/// Result of serving a load.
struct ServeResult {
  config::ServingConfig config;
  serving::Outcome outcome;
  serving::Summary summary;
  PoolMemory memory;
  std::optional<PoolMemory> prefill_memory = {};
  std::uint32_t chips = 0;        ///< of both pools
  double dollars_per_hour = 0.0;  ///< of all chips; 0 if one has no price
  double offered_per_s = 0.0;     ///< requests/s that arrive; 0 for a concurrency
  /// Requests/s that are served if all are there from the start; if arrivals come close to it.
  std::optional<double> capacity_per_s = {};
  std::size_t simulated_steps = 0;              ///< with different numbers of positions
  double interpolation_error = 0.0;             ///< largest of the time of a step, relative
  std::optional<LoadIntervals> intervals = {};  ///< if requested

  /// True if requests arrive faster than they can be served.
  bool is_overloaded() const { return capacity_per_s && offered_per_s > *capacity_per_s; }

  /// $ per million output tokens; std::nullopt without a price.
  std::optional<double> dollars_per_million() const;
};

/// Options of a run. None changes a time.
struct ServeOptions {
  unsigned threads = 1;
  bool uncertainty = false;  ///< intervals, even if the configuration requests none
  bool steps = false;        ///< records steps, for a trace
  std::function<void(const std::string& part)> part{};  ///< called when a part begins
  std::function<void(double share)> progress{};         ///< completed share of the part
};

/// Checks that the model and all requests fit, without simulating. @throws input::InputError
void check(const config::ServingConfig& config);

/// Simulates a load. @throws input::InputError if a request never fits, or the model
ServeResult serve(const config::ServingConfig& config, const ServeOptions& options);

}  // namespace equarx::serve
