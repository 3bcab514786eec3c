// Whether thread blocks touch one chunk in no order.
#pragma once

#include <string>

#include "models/schedules/queues.hpp"
#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Whether races can be looked for among so many thread blocks: what one knows of all others takes their square.
bool can_look_for_races(const Schedule& schedule);

/// The first two steps found that touch one chunk, one of them writing, and that neither dependencies nor messages put
/// into an order: the result then depends on which is first. Empty if there are none. Of a checked schedule that walk()
/// gets through.
std::string find_race(const Schedule& schedule, const Queues& queues, bool in_place);

}  // namespace equarx::schedules
