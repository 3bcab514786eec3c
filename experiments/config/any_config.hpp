// Configurations of either kind: collectives or a whole step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/step.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// A configuration: collectives of one tensor, or a step.
using Config = std::variant<ExperimentConfig, StepConfig>;

/// The common part of all configurations.
struct AnyConfig {
  input::JsonValue resolved;        ///< with all defaults filled in
  std::vector<std::string> labels;  ///< labels of the compared collectives or step variants
  std::vector<std::string> files;   ///< paths of the files it refers to
  std::string hardware;             ///< as the user wrote it: a name, or the path of a file
  hardware::Chip chip;
  std::string topology;                       ///< as text
  std::optional<std::uint64_t> tensor_bytes;  ///< per chip; std::nullopt for a step
};

/// Reads a configuration: of a step if it has "step" or "workload". @throws input::InputError if it
/// is invalid
Config read(const input::Json& json);

/// Name of the JSON Schema of a configuration: "experiment" or "step".
std::string schema_of(const Config& config);

/// Reads a configuration and checks it against its JSON Schema. @throws input::InputError if it is
/// invalid
Config read_checked(const input::Json& json);

/// Reads a configuration and resolves it. @throws input::InputError if it is invalid
AnyConfig read_any_config(const input::Json& json);

/// The compared items of a resolved configuration: its collectives, or the variants of its step.
/// Each has a "label".
const input::Json& compared(const input::Json& resolved);

}  // namespace equarx::config
