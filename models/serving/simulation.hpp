// A served model under a load, as discrete events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/serving/replica.hpp"
#include "models/serving/requests.hpp"

namespace equarx::serving {

/// Replicas of a model, each with its own scheduler.
struct Pool {
  Served served;
  Limits limits;
  std::uint32_t replicas = 1;  ///< at least 1
};

/// Port of a replica to the other pool. A transfer occupies one of each pool.
struct Port {
  double bandwidth = 0.0;  ///< B/s of a whole replica, above 0
  double latency_s = 0.0;
};

/// Prefill in a pool of its own, whose KV caches move to the pool that decodes.
struct PrefillPool {
  Pool pool;
  Port port;
};

/// Replicas and the load on them. A request goes to the replica with the fewest requests.
struct System {
  Pool pool;
  std::optional<PrefillPool> prefill;
  Load load;
};

/// A request from arrival to its last token.
struct Record {
  Request request;
  double first_token_s = 0.0;
  double last_token_s = 0.0;
  std::size_t replica = 0;  ///< that decodes it
  std::uint32_t preemptions = 0;
  std::uint64_t found = 0;                   ///< positions of the prompt that needed no computing
  std::array<double, kStates> spent_s = {};  ///< by state; the sum is last_token_s - arrival

  double ttft_s() const { return first_token_s - request.arrival_s; }
  double latency_s() const { return last_token_s - request.arrival_s; }
  /// Time per token after the first; 0 for a single token.
  double tpot_s() const;
};

/// A step of a replica.
struct StepRecord {
  std::size_t replica = 0;  ///< prefill replicas follow the others
  double start_s = 0.0;
  double end_s = 0.0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t decode_tokens = 0;
  std::size_t waiting = 0;  ///< requests in the queue
  double used_bytes = 0.0;  ///< of the KV cache of a chip
};

/// Totals of a pool, over all replicas.
struct PoolTotals {
  std::uint64_t steps = 0;
  StepTime busy;                     ///< time of steps
  double decode_tokens = 0.0;        ///< computed
  double prompt_tokens = 0.0;        ///< computed, again after a preemption
  double longest_queue = 0.0;        ///< requests
  double peak_bytes = 0.0;           ///< of the KV cache of a chip, on the fullest replica
  std::uint64_t evicted_blocks = 0;  ///< full ones, if the KV cache keeps blocks
};

/// Outcome of a simulation.
struct Outcome {
  std::vector<Record> records;    ///< by request
  std::vector<double> gaps_s;     ///< between tokens of a request, all of them
  std::vector<StepRecord> steps;  ///< if requested
  PoolTotals totals;
  std::optional<PoolTotals> prefill_totals;
  double end_s = 0.0;  ///< last token
};

/// Options of a simulation. None changes a time.
struct Watch {
  bool steps = false;  ///< records steps
  std::function<void(double share)> progress =
      {};  ///< called now and then, with completed requests
};

/// Largest KV cache of a request of the load, in bytes per chip of a replica. @returns the index of
/// the request and the bytes, without a shared prefix
struct Largest {
  std::size_t request = 0;
  double bytes = 0.0;
};
Largest largest_request(const std::vector<Request>& requests, const KvCache& cache);

/// Cache held on each replica for the shared prefix of the longest prompt, in bytes per chip.
double prefix_bytes(const Load& load, const std::vector<Request>& requests, const KvCache& cache);

/// Simulates the load until all requests are complete. `requests`: of draw().
/// Every request must fit into an empty cache. @throws std::logic_error if a token is lost
Outcome simulate(const System& system, const std::vector<Request>& requests,
                 const Watch& watch = {});

}  // namespace equarx::serving
