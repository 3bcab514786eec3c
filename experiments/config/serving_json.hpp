// JSON of a served model's configuration.
#pragma once

#include "base/input/object_reader.hpp"
#include "experiments/config/serving.hpp"

namespace equarx::config {

/// Reads the configuration of a served model. @throws input::InputError if it is invalid
ServingConfig read_serving(const input::Json& json);

/// The configuration with all defaults filled in; read_serving() restores it.
input::Json to_json(const ServingConfig& config);

/// Schema of a served model, with annotations.
input::Json serving_schema();

}  // namespace equarx::config
