// Reads and verifies MSCCL schedules.
#pragma once

#include <string>
#include <string_view>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"

namespace equarx::imports {

/// A schedule that completes and produces the result of its collective.
struct MscclSchedule {
  schedules::Schedule schedule;
  schedules::Queues queues;
  bool compared = false;  ///< result compared with the collective; false for custom collectives
  bool looked_for_races = false;  ///< checked for races; false for too many thread blocks
};

/// True if a text looks like an MSCCL schedule rather than a configuration.
bool is_schedule(std::string_view text);

/// Reads a file. @throws input::InputError if it is unreadable or larger than 256 MiB
std::string read_schedule_text(const std::string& path);

/// @param text  MSCCL XML
/// @throws input::UserError for a malformed schedule, a deadlock, a race, or a wrong result; names
/// the first rank and chunk that differ
MscclSchedule read_msccl(const std::string& text);

}  // namespace equarx::imports
