// One copy of a served model: its queue, its running sequences, and the batch of its next step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "models/serving/cache_space.hpp"
#include "models/serving/kv_cache.hpp"
#include "models/serving/requests.hpp"
#include "models/serving/sequence.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::serving {

/// Parts of the time of a step.
struct StepTime {
  double compute_s = 0.0;
  double communication_s = 0.0;  ///< not overlapped by compute
  double overhead_s = 0.0;       ///< of the engine, between steps

  double total_s() const { return compute_s + communication_s + overhead_s; }
};

/// A model as served by one group of chips.
struct Served {
  workloads::Transformer model;
  workloads::AttentionMethod method;
  std::uint32_t chips = 1;  ///< of one replica
  KvCache cache;
  std::function<StepTime(const workloads::Batch&)> step_time;
};

/// How prompts and decoding share steps.
enum class Policy : std::uint8_t {
  /// Decoding first, then chunks of prompts in the rest of the step (chunked prefill).
  mixed,
  /// Whole prompts as soon as they fit, in steps of their own.
  prompts_first,
};

/// Limits of a scheduler.
struct Limits {
  std::uint32_t sequences = 256;  ///< running at once; at least 1
  std::uint64_t tokens = 8192;    ///< positions per step; at least 1
  Policy policy = Policy::mixed;
  /// Full blocks of the KV cache stay after their use, until their room is needed.
  bool keeps_blocks = false;
};

/// A step as scheduled.
struct Step {
  workloads::Batch batch;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t decode_tokens = 0;
};

/// Schedules like the first version of vLLM's engine core: running sequences first, in order of
/// arrival; waiting ones join while limits and memory allow. If a running sequence cannot grow, the
/// last one is preempted: its cache is freed, and computed again later.
/// Source: vLLM, vllm/v1/core/sched/scheduler.py.
class Replica {
 public:
  /// `prefix_bytes`: cache held for prefixes shared by all requests. `served` must outlive it.
  Replica(const Served& served, const Limits& limits, double prefix_bytes);

  /// Adds a sequence to the end of the queue.
  void enqueue(Sequence& sequence, double now_s);

  /// Starts the next step; std::nullopt if there is none, or one is running.
  std::optional<Step> start_step(double now_s);

  /// Ends the running step. Returns sequences that ended, or moved after their prefill; the latter
  /// hold their cache until release(). Calls `on_token` for each new token.
  std::vector<Sequence*> end_step(double now_s, const std::function<void(Sequence&)>& on_token);

  /// Frees the cache of a sequence.
  void release(Sequence& sequence) { space_.release(sequence); }

  bool is_running_step() const { return runs_step_; }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }
  const CacheSpace& space() const { return space_; }

 private:
  struct Filling {  ///< a step that is being scheduled
    Step step;
    std::uint64_t tokens = 0;  ///< positions that it may still take
    double now_s = 0.0;
  };

  bool continue_running(Filling& filling);
  State admit(Filling& filling);
  bool fits_prompt(const Sequence& sequence, const Filling& filling) const;
  std::uint64_t missing_of(const Sequence& sequence) const;
  bool grow_or_preempt(Sequence& sequence, std::uint64_t positions, double now_s);
  void preempt_last(double now_s);
  void schedule(Sequence& sequence, std::uint64_t positions, Filling& filling);
  void start(Sequence& sequence, double now_s);
  double waited_s(std::size_t cause, double now_s) const;
  void set_cause(State cause, double now_s);

  const Served& served_;
  Limits limits_;
  CacheSpace space_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  std::vector<Sequence*> scheduled_;  ///< in the running step
  bool runs_step_ = false;
  // Time that the queue has waited so far, by cause, up to `cause_since_s_`.
  std::array<double, kStates> waited_s_{};
  State cause_ = State::waits_for_step;
  double cause_since_s_ = 0.0;
};

}  // namespace equarx::serving
