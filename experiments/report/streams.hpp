// Picture of the streams of a step: a timeline of its tasks.
#pragma once

#include <string>

#include "base/input/json_value.hpp"

namespace equarx::report {

/// Draws a complete SVG file: a lane per stream and a bar per task, coloured by group; tasks on the
/// critical path are underlined. `tasks`, `critical_path`: as in a variant of `run --json`
/// (docs/results.md).
/// @throws input::Json::exception for another format
std::string draw_streams(const input::Json& tasks, const input::Json& critical_path,
                         const std::string& caption);

}  // namespace equarx::report
