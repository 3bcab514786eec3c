// The one place where hardware files meet JSON.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// A chip by the name of a built-in hardware file ("tpu-v5e"), or by the path of a file (anything that
/// has a '/' or ends in ".json"), which describes a whole chip, or changes another: then "based_on" names that
/// one, and a path there is relative to the file. @throws InputError, with `place` if the name is unknown.
hardware::Chip load_chip(const std::string& name_or_path, const std::string& place);

/// Reads the contents of a hardware file that describes a whole chip.
hardware::Chip read_chip(const input::Json& json);

/// Every parameter of a chip with its unit, class and source, as reports show it.
input::Json parameters_json(const hardware::Chip& chip);

/// The whole hardware file, as read_chip() reads it.
input::Json to_json(const hardware::Chip& chip);

}  // namespace equarx::config
