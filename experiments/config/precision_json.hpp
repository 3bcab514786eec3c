// The "precision" of a training step.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/steps/precision.hpp"

namespace equarx::config {

/// Reads "precision": the name of a recipe, or an object with the types of each class of matmuls;
/// bf16 if absent. @throws InputError for types that do not support the requested scaling
steps::Precision read_precision(input::ObjectReader& training);

/// Inverse of read_precision(): the recipe's name, or all types of all classes.
input::Json precision_json(const steps::Precision& precision);

/// Schema of "precision", with annotations.
input::Json precision_schema();

}  // namespace equarx::config
