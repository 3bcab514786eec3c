// The "hardware" of a configuration.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/config/chip_changes.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// A chip and its reference in a configuration.
struct ChipChoice {
  std::string based_on;  ///< name of a built-in chip, or the path of a file
  ChipChanges changes;   ///< parameters that the configuration overrides
  hardware::Chip chip;   ///< with the overrides
};

/// Reads the name of a built-in chip, the path of a hardware file, or an object that overrides
/// parameters of one, like {"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s"}. @throws InputError
ChipChoice read_chip_choice(input::ObjectReader& config);

/// Inverse of read_chip_choice().
input::Json chip_choice_json(const ChipChoice& choice);

/// Schema of "hardware", with annotations.
input::Json chip_choice_schema();

}  // namespace equarx::config
