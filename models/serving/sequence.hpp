// A request in progress on a replica.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/serving/block_pool.hpp"

namespace equarx::serving {

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

/// Causes of waiting in the queue.
inline constexpr std::array kCauses = {State::waits_for_step, State::waits_for_sequences,
                                       State::waits_for_tokens, State::waits_for_memory};

constexpr std::size_t index(State state) { return static_cast<std::size_t>(state); }

constexpr bool is_cause(State state) { return std::ranges::find(kCauses, state) != kCauses.end(); }

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
  HeldBlocks held = {};              ///< of the KV cache, if blocks are kept
  std::uint64_t prefix_text = 0;     ///< number of the text that starts the prompt
  std::uint64_t prefix_tokens = 0;   ///< of this text
  std::uint64_t found = 0;           ///< positions of the prompt that needed no computing
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

}  // namespace equarx::serving
