// Message queues of a schedule: one per sending thread block, identified by peer and channel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// A thread block of a rank.
struct BlockId {
  std::uint32_t rank = 0;
  std::uint32_t block = 0;

  auto operator<=>(const BlockId&) const = default;
};

/// Message queue from one thread block to a thread block of another rank.
struct Queue {
  BlockId sender{};
  BlockId receiver{};
  std::uint32_t channel = 0;
};

/// Index into Queues::all.
using QueueId = std::uint32_t;

/// All queues, with the queues of each thread block.
struct Queues {
  std::vector<Queue> all;
  /// Indexed by rank and thread block; std::nullopt if no step of the thread block sends
  /// (receives).
  std::vector<std::vector<std::optional<QueueId>>> sent_by;
  std::vector<std::vector<std::optional<QueueId>>> received_by;
};

/// @throws exceptions::UserError if a step needs a peer that its thread block does not have, a peer is not
/// another rank, two thread blocks of a rank share a (peer, channel), or a queue lacks an end
Queues find_queues(const Schedule& schedule);

}  // namespace equarx::schedules
