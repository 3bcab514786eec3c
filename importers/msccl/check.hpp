// Static checks of schedules: peers, queues, chunks and dependencies.
#pragma once

#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// Checks everything that can be verified without running the schedule:
/// - the number of chunks is divisible by the ranks if the collective requires it, and steps stay
///   within the buffers;
/// - a thread block has the peers that its steps need, and each (peer, channel) of a rank belongs
///   to one thread block;
/// - both ends of a queue agree on the number of messages and their chunks;
/// - every dependency exists and signals its completion.
/// walk() detects deadlocks. @throws exceptions::UserError with the location
void check(const Schedule& schedule);

}  // namespace equarx::schedules
