// What is known about chips, as tables for people and as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::inspect {

/// Every chip of configs/hardware/, in the order of their names.
std::vector<hardware::Chip> built_in_chips();

/// One line for each chip: links, memory, peak.
std::string to_table(std::span<const hardware::Chip> chips);

/// An array with an object for each chip: name, description and the values of that table.
input::Json to_json(std::span<const hardware::Chip> chips);

/// Every parameter of one chip with its class and source, and its slices.
std::string to_report(const hardware::Chip& chip);

}  // namespace equarx::inspect
