// Schedules as the XML of MSCCL, read and written.
#pragma once

#include <string>
#include <string_view>

#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Whether a text begins as XML does, behind white space.
bool is_xml(std::string_view text);

/// Reads a schedule as MSCCL's runtimes do (Azure/msccl-executor-nccl, ROCm/rccl): attributes that they do not know
/// have no meaning. It is not checked yet (check.hpp).
/// @throws ScheduleError for what is no XML and no such schedule; the message names the line
Schedule read_msccl_xml(std::string_view text);

/// Writes a schedule as msccl-tools does: read_msccl_xml() of it gives the same schedule.
std::string write_msccl_xml(const Schedule& schedule);

}  // namespace equarx::schedules
