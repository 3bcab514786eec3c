// Detection of unordered conflicting accesses to chunks.
#pragma once

#include <string>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// True if find_race() is affordable: its vector clocks grow with the square of the thread blocks.
bool can_look_for_races(const Schedule& schedule);

/// Describes the first race found: two steps that access one chunk, at least one of them writing
/// it, without an order from dependencies or messages, so that the result depends on timing. Empty
/// if there is none. The schedule must have passed check() and walk().
std::string find_race(const Schedule& schedule, const Queues& queues, bool in_place);

}  // namespace equarx::schedules
