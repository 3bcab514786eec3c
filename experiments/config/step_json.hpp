// Configurations of a whole step.
#pragma once

#include "experiments/config/step.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Whether a configuration is one of a step, and not of a collective or a workload.
bool is_step(const input::Json& json);

/// Reads a configuration of a step. @throws input::InputError for anything that is not right
StepConfig read_step_config(const input::Json& json);

/// The variants as a configuration has them.
input::Json variants_json(const StepConfig& config);

/// The configuration with every default filled in; read_step_config() gives the same again.
input::Json to_json(const StepConfig& config);

}  // namespace equarx::config
