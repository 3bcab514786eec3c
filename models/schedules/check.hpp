// Whether a schedule can run: peers, queues, chunks and dependencies fit each other.
#pragma once

#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Checks all that can be seen without running it:
/// - chunks divide among ranks as the collective asks for, and steps stay within the buffers;
/// - a thread block has the peers that its steps need, and each (peer, channel) of a rank belongs to one;
/// - what one end of a queue sends, the other receives: as many messages, of the same chunks;
/// - what a step waits for exists, and says when it is done.
/// walk() finds whether it comes to an end. @throws ScheduleError that names the place
void check(const Schedule& schedule);

}  // namespace equarx::schedules
