// Reports of MSCCL schedules.
#pragma once

#include <optional>
#include <string>

#include "base/input/object_reader.hpp"
#include "importers/msccl/msccl.hpp"
#include "importers/msccl/msccl_time.hpp"

namespace equarx::imports {

/// Contents and verification of a schedule, in two lines.
std::string summary_text(const MscclSchedule& checked);

/// Summary and table of times.
std::string to_table(const MscclSchedule& checked, const MscclTime& time);

/// Report as JSON (docs/results.md); without a time if nothing was simulated.
input::Json to_json(const MscclSchedule& checked, const std::optional<MscclTime>& time);

}  // namespace equarx::imports
