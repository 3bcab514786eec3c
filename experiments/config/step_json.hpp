// JSON of step configurations.
#pragma once

#include "experiments/config/step.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// True if a configuration is of a step, and not of collectives or a workload.
bool is_step(const input::Json& json);

/// Reads a step configuration. @throws input::InputError if it is invalid
StepConfig read_step_config(const input::Json& json);

/// The variants as configuration JSON.
input::Json variants_json(const StepConfig& config);

/// The configuration with all defaults filled in; read_step_config() restores it.
input::Json to_json(const StepConfig& config);

}  // namespace equarx::config
