// JSON of hardware files.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// Loads a chip by the name of a built-in hardware file ("tpu-v5e") or an alias of it
/// (chip_name()), or by path (anything that
/// contains a '/' or ends in ".json"). A file describes a whole chip, or overrides parameters of
/// the chip in "based_on", whose path is relative to the file. @throws InputError, at `pointer` if
/// the name is unknown.
hardware::Chip load_chip(const std::string& name_or_path, const std::string& pointer);

/// Reads the contents of a hardware file that describes a whole chip.
hardware::Chip read_chip(const input::Json& json);

/// All parameters of a chip with unit, class and source, as in reports.
input::Json parameters_json(const hardware::Chip& chip);

/// The whole hardware file; inverse of read_chip().
input::Json to_json(const hardware::Chip& chip);

/// Schema of hardware files, with annotations.
input::Json hardware_schema();

}  // namespace equarx::config
