// A schedule of MSCCL as lists of steps for the simulator: one stream for each thread block.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/schedules/queues.hpp"
#include "models/schedules/runtime.hpp"
#include "models/schedules/schedule.hpp"
#include "sim/timeline.hpp"

namespace equarx::imports {

/// What thread blocks take.
struct BlockSpeed {
  double rate = 0.0;       ///< B/s that one sends, copies or adds, > 0
  double startup_s = 0.0;  ///< before the first step of every one
};

/// Bytes of a message's payload as it is sent, of bytes of FP32.
using Encoded = std::function<std::uint64_t(std::uint64_t)>;

/// The lists, and how their queues lie in a machine: a channel is from every rank to the one at an offset.
struct MscclTimelines {
  sim::Timelines timelines;
  std::vector<std::uint32_t> offsets;      ///< by channel
  std::vector<std::uint64_t> queue_bytes;  ///< by queue: that cross its links
};

/// Transfers that a thread block has under way to one peer.
inline constexpr std::uint32_t kPiecesUnderWay = 4;

/// A thread block is busy with each step for its bytes divided by its rate; what it sends leaves it piece by piece
/// meanwhile, and it goes on when all has left. Receivers of the Simple protocol wait for a slice, those of LL and LL128
/// for each piece. A queue that is full is waited for.
/// @param encoded  may be empty: payloads are sent as they are
MscclTimelines make_timelines(const schedules::Schedule& schedule, const schedules::Queues& queues,
                              const schedules::Runtime& runtime, const BlockSpeed& speed,
                              const Encoded& encoded);

/// About how many steps the lists of make_timelines() would have together.
double list_steps(const schedules::Schedule& schedule, const schedules::Runtime& runtime);

}  // namespace equarx::imports
