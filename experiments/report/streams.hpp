// A picture of when each task of a step went on.
#pragma once

#include <string>

#include "experiments/input/json_value.hpp"

namespace equarx::report {

/// A whole SVG file: a lane for each stream, a bar for each task, coloured by its group; tasks of the critical path
/// are underlined. `tasks`, `critical_path`: as `run --json` has them of a variant (docs/results.md).
/// @throws input::Json::exception for anything else
std::string draw_streams(const input::Json& tasks, const input::Json& critical_path,
                         const std::string& caption);

}  // namespace equarx::report
