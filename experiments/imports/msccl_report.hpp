// What there is to say of a schedule of MSCCL.
#pragma once

#include <optional>
#include <string>

#include "experiments/imports/msccl.hpp"
#include "experiments/imports/msccl_time.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::imports {

/// What is in it, and what it was held to: two lines.
std::string summary_text(const MscclSchedule& made);

/// That, and a table of what it takes.
std::string to_table(const MscclSchedule& made, const MscclTime& time);

/// The same for programs (docs/results.md); without a time if nothing was simulated.
input::Json to_json(const MscclSchedule& made, const std::optional<MscclTime>& time);

}  // namespace equarx::imports
