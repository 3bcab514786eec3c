// One copy of a served model: its queue, its running sequences, and the batch of its next step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "models/serving/kv_cache.hpp"
#include "models/serving/requests.hpp"
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
};

/// States of a request between arrival and its last token. Waiting is by cause.
enum class State : std::uint8_t {
  waits_for_step,       ///< until the running step ends
  waits_for_sequences,  ///< until a sequence ends
  waits_for_tokens,     ///< until a step has room for its prompt
  waits_for_memory,     ///< until KV cache is free
  preempted,            ///< until it is scheduled again
  transfers,            ///< its KV cache, from prefill to decode
  prefills,
  decodes
};
inline constexpr std::size_t kStates = 8;

/// A request in progress.
struct Sequence {
  std::size_t request = 0;           ///< its index
  std::uint64_t prompt = 1;          ///< positions
  std::uint64_t output = 1;          ///< tokens
  std::uint64_t prefix = 0;          ///< first positions of the prompt that are cached for all
  std::uint64_t computed = 0;        ///< positions in the cache
  std::uint64_t generated = 0;       ///< tokens
  std::uint64_t scheduled = 0;       ///< positions in the running step
  double held_bytes = 0.0;           ///< of the KV cache, without the prefix
  bool moves_after_prefill = false;  ///< ends on this replica with the first token

  State state = State::waits_for_step;
  double since_s = 0.0;  ///< in this state; not of waiting by cause
  std::uint32_t preemptions = 0;
  std::size_t replica = 0;  ///< that generates, in its pool
  double first_token_s = 0.0;
  double last_token_s = 0.0;
  std::array<double, kStates> spent_s{};  ///< by state

  /// Positions of the prompt and of all tokens generated so far.
  std::uint64_t known() const { return prompt + generated; }

  /// Ends a state and enters another.
  void enter(State next, double now_s);
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
  void release(Sequence& sequence);

  bool is_running_step() const { return runs_step_; }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }
  double used_bytes() const { return used_bytes_; }
  double peak_bytes() const { return peak_bytes_; }

 private:
  struct Filling {  ///< a step that is being scheduled
    Step step;
    std::uint64_t tokens = 0;  ///< positions that it may still take
    double now_s = 0.0;
  };

  bool continue_running(Filling& filling);
  State admit(Filling& filling);
  bool fits_prompt(const Sequence& sequence, const Filling& filling) const;
  bool grow(Sequence& sequence, std::uint64_t positions);
  bool grow_or_preempt(Sequence& sequence, std::uint64_t positions, double now_s);
  void preempt_last(double now_s);
  void schedule(Sequence& sequence, std::uint64_t positions, Filling& filling);
  void start(Sequence& sequence, double now_s);
  double waited_s(std::size_t cause, double now_s) const;
  void set_cause(State cause, double now_s);

  const Served& served_;
  Limits limits_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  std::vector<Sequence*> scheduled_;  ///< in the running step
  bool runs_step_ = false;
  double used_bytes_ = 0.0;
  double peak_bytes_ = 0.0;
  // Time that the queue has waited so far, by cause, up to `cause_since_s_`.
  std::array<double, kStates> waited_s_{};
  State cause_ = State::waits_for_step;
  double cause_since_s_ = 0.0;
};

}  // namespace equarx::serving
