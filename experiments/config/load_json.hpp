// The "load" of a served model.
#pragma once

#include "base/input/object_reader.hpp"
#include "experiments/config/serving.hpp"

namespace equarx::config {

/// Reads "load" and the trace that it names. @throws input::InputError if it is invalid
void read_load(input::ObjectReader reader, ServingConfig& config);

/// Inverse of read_load().
input::Json load_json(const ServingConfig& config);

/// Schema of "load", with annotations.
input::Json load_schema();

}  // namespace equarx::config
