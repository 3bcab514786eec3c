// Untimed execution of a schedule in an order permitted by queues and dependencies; detects
// deadlocks.
#pragma once

#include <cstdint>
#include <functional>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// Splitting of a schedule's work by the runtime.
struct Cut {
  std::uint64_t loops = 1;  ///< times every thread block runs through its steps
  /// Maximum chunks per message; steps with more send several messages.
  std::uint32_t chunks_at_once = 0xFFFFFFFF;
  /// Queue capacity in messages; a send to a full queue blocks until the oldest message is
  /// received.
  std::uint32_t room = 0xFFFFFFFF;
};

/// Returns the number of messages of a step of `chunks` chunks.
std::uint32_t messages_of(const Cut& cut, std::uint32_t chunks);

/// One message of a step, or a whole step that neither sends nor receives.
struct Visit {
  BlockId block{};
  std::uint32_t step = 0;
  std::uint64_t loop = 0;
  std::uint32_t message = 0;  ///< index within the step
};

/// Calls `visit` for every message and step, in a possible order. The schedule must have passed
/// check().
/// @throws exceptions::UserError if thread blocks deadlock on each other or on full queues; names the cycle
void walk(const Schedule& schedule, const Queues& queues, const Cut& cut,
          const std::function<void(const Visit&)>& visit = {});

}  // namespace equarx::schedules
