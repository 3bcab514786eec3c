// The queues of a schedule: one for each peer and channel that a thread block sends to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// A thread block of a rank.
struct BlockId {
  std::uint32_t rank = 0;
  std::uint32_t block = 0;

  auto operator<=>(const BlockId&) const = default;
};

/// A queue of messages, from one thread block to one of another rank.
struct Queue {
  BlockId sender{};
  BlockId receiver{};
  std::uint32_t channel = 0;
};

/// Index into Queues::all.
using QueueId = std::uint32_t;

/// All queues, and those of every thread block.
struct Queues {
  std::vector<Queue> all;
  /// By rank and thread block; none if it has no such peer, or no step that needs it.
  std::vector<std::vector<std::optional<QueueId>>> sent_by;
  std::vector<std::vector<std::optional<QueueId>>> received_by;
};

/// @throws ScheduleError if a step needs a peer that its thread block does not have, a peer is no other rank, two thread
/// blocks of a rank have one (peer, channel), or one end of a queue is missing
Queues find_queues(const Schedule& schedule);

}  // namespace equarx::schedules
