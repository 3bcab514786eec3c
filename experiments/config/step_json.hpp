// JSON of step configurations.
#pragma once

#include "base/input/json_value.hpp"
#include "base/input/object_reader.hpp"
#include "experiments/config/step.hpp"

namespace equarx::config {

/// Reads a step configuration. @throws input::InputError if it is invalid
StepConfig read_step_config(const input::Json& json);

/// The variants as configuration JSON.
input::Json variants_json(const StepConfig& config);

/// Rewrites a workload with "collectives" as a step with a mesh, "variants" and "values"; other
/// steps are returned as they are. @throws input::InputError if its AllReduces are not of bf16
StepConfig step_form(StepConfig config);

/// A served model with the first `layers` of its layers. Collectives are the same, but fewer.
StepConfig with_layers(StepConfig config, std::uint32_t layers);

/// The configuration with all defaults filled in; read_step_config() restores it.
input::Json to_json(const StepConfig& config);

/// Schema of the key of training and serving that decides what happens if HBM is too small.
input::Json memory_check_schema();

/// Schema of a step configuration, with annotations.
input::Json step_schema();

}  // namespace equarx::config
