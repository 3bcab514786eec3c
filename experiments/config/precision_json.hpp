// "precision" of a step of training.
#pragma once

#include "experiments/input/object_reader.hpp"
#include "models/steps/precision.hpp"

namespace equarx::config {

/// Reads "precision", the name of a recipe or an object that says the type of each class of products; bf16 if it is not
/// there. @throws InputError for types that cannot be scaled as it says
steps::Precision read_precision(input::ObjectReader& training);

/// As read_precision() reads it: its name, or if it has none every type of every class.
input::Json precision_json(const steps::Precision& precision);

}  // namespace equarx::config
