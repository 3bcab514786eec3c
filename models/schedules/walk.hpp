// Runs a schedule without a clock: in an order that queues and dependencies allow, or to where it gets stuck.
#pragma once

#include <cstdint>
#include <functional>

#include "models/schedules/queues.hpp"
#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// How the runtime cuts what a schedule does.
struct Cut {
  std::uint64_t loops = 1;  ///< that every thread block goes through its steps
  /// A step of more chunks is several messages of so many.
  std::uint32_t chunks_at_once = 0xFFFFFFFF;
  /// Messages that a queue has room for; a further one waits until the oldest is received.
  std::uint32_t room = 0xFFFFFFFF;
};

/// Messages of a step of so many chunks.
std::uint32_t messages_of(const Cut& cut, std::uint32_t chunks);

/// One message of a step, or the whole of a step without.
struct Visit {
  BlockId block{};
  std::uint32_t step = 0;
  std::uint64_t loop = 0;
  std::uint32_t message = 0;  ///< of the step, from 0
};

/// Calls `visit` for everything that is done, in an order that can happen. Of a checked schedule.
/// @throws ScheduleError if thread blocks wait for each other, or for room in queues, for ever; says which
void walk(const Schedule& schedule, const Queues& queues, const Cut& cut,
          const std::function<void(const Visit&)>& visit = {});

}  // namespace equarx::schedules
