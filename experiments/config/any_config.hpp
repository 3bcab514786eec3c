// Configurations of collectives and of whole steps, where it does not matter which of them one is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// What every configuration has.
struct AnyConfig {
  input::JsonValue resolved;        ///< with every default filled in
  std::vector<std::string> labels;  ///< of what it compares: collectives, or variants of a step
  std::vector<std::string> files;   ///< that it names
  std::string hardware;             ///< as the user wrote it: a name, or the path of a file
  hardware::Chip chip;
  std::string topology;                       ///< in words
  std::optional<std::uint64_t> tensor_bytes;  ///< on each chip; a step has no tensor
};

/// Reads a configuration of either kind. @throws input::InputError for anything that is not right
AnyConfig read_any_config(const input::Json& json);

/// What a resolved configuration compares: its collectives, or the variants of its step; each has a "label".
const input::Json& compared(const input::Json& resolved);

}  // namespace equarx::config
