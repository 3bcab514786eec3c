// A schedule of MSCCL: read, and held to what it claims to be.
#pragma once

#include <string>
#include <string_view>

#include "models/schedules/queues.hpp"
#include "models/schedules/schedule.hpp"

namespace equarx::imports {

/// A schedule that runs to its end and gives what its collective asks for.
struct MscclSchedule {
  schedules::Schedule schedule;
  schedules::Queues queues;
  bool compared = false;          ///< with its collective: not if that is custom
  bool looked_for_races = false;  ///< not among very many thread blocks
};

/// Whether a text may be such a schedule, and no configuration.
bool is_schedule(std::string_view text);

/// Reads the text of a file. @throws input::InputError if it cannot be read, or is larger than 256 MiB
std::string read_schedule_text(const std::string& path);

/// @param text  XML of MSCCL
/// @throws input::InputError for what is no such schedule, hangs, has a race, or is not the collective that it claims to
/// be: then with the first rank and chunk that differ
MscclSchedule read_msccl(const std::string& text);

}  // namespace equarx::imports
