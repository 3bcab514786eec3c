// Reports of profiles: recorded and simulated times of collectives.
#pragma once

#include <optional>
#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/step/results.hpp"
#include "importers/profile/import.hpp"

namespace equarx::imports {

/// Recorded contents, and a table with a row per kind of collective. `result` is of the step of the
/// profile, if it has one.
std::string to_table(const ImportedProfile& profile, const std::optional<step::StepResult>& result);

/// The same as JSON (docs/results.md).
input::Json to_json(const ImportedProfile& profile, const std::optional<step::StepResult>& result);

}  // namespace equarx::imports
