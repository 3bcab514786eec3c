// JSON of step configurations.
#pragma once

#include "experiments/config/step.hpp"
#include "experiments/input/json_value.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// True if a configuration is of a step, and not of collectives or a workload.
bool is_step(const input::Json& json);

/// Returns the step of a workload on a single chip, which has no collective: its machine, phase and
/// simulation keys, without collectives and tensor. Null for any other configuration, also for an
/// invalid one. Does not check the workload itself.
input::JsonValue step_of_one_chip(const input::Json& json);

/// Reads a step configuration. @throws input::InputError if it is invalid
StepConfig read_step_config(const input::Json& json);

/// The variants as configuration JSON.
input::Json variants_json(const StepConfig& config);

/// The configuration with all defaults filled in; read_step_config() restores it.
input::Json to_json(const StepConfig& config);

}  // namespace equarx::config
