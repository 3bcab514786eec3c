// Chip parameters, as tables for people and as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::inspect {

/// All chips of configs/hardware/, ordered by name.
std::vector<hardware::Chip> built_in_chips();

/// One row per chip: links, memory, peak.
std::string to_table(std::span<const hardware::Chip> chips);

/// An array with one object per chip: name, description and the values of that table.
input::Json to_json(std::span<const hardware::Chip> chips);

/// All parameters of one chip with class and source, and its slices.
std::string to_report(const hardware::Chip& chip);

}  // namespace equarx::inspect
