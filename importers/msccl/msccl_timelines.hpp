// Converts an MSCCL schedule to simulator timelines, one stream per thread block.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/runtime.hpp"
#include "importers/msccl/schedule.hpp"
#include "sim/timeline.hpp"

namespace equarx::imports {

/// Speed of thread blocks.
struct BlockSpeed {
  double rate = 0.0;       ///< B/s at which one sends, copies or adds, > 0
  double startup_s = 0.0;  ///< before the first step of each
};

/// Maps FP32 bytes of a message to the bytes of its encoded payload.
using Encoded = std::function<std::uint64_t(std::uint64_t)>;

/// Timelines, and the mapping of queues to a machine: a channel connects every rank to the rank at
/// an offset.
struct MscclTimelines {
  sim::Timelines timelines;
  std::vector<std::uint32_t> offsets;      ///< by channel
  std::vector<std::uint64_t> queue_bytes;  ///< by queue: bytes that cross its links
};

/// Concurrent transfers of a thread block to one peer.
inline constexpr std::uint32_t kPiecesInFlight = 4;

/// Builds the timelines. A thread block is busy with each step for its bytes divided by its rate.
/// Its output leaves piece by piece meanwhile, and the step ends once all has left. Receivers wait
/// for a slice in the Simple protocol, and for each piece in LL and LL128. Senders wait for a free
/// slot in the queue.
/// @param encoded  may be empty: payloads are sent as FP32
MscclTimelines make_timelines(const schedules::Schedule& schedule, const schedules::Queues& queues,
                              const schedules::Runtime& runtime, const BlockSpeed& speed,
                              const Encoded& encoded);

/// Approximate number of steps of make_timelines().
double estimated_steps(const schedules::Schedule& schedule, const schedules::Runtime& runtime);

}  // namespace equarx::imports
