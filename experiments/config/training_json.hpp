// The "training" of a step: a transformer training step.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "models/steps/training.hpp"

namespace equarx::config {

/// A training step and its model's name.
struct TrainingConfig {
  std::string model_name;  ///< as the user wrote it: a name, or the path of a file
  steps::Training training;
};

/// Reads a training step. @throws input::InputError
TrainingConfig read_training(input::ObjectReader reader);

/// Inverse of read_training(), with all defaults filled in.
input::Json training_json(const TrainingConfig& config);

/// Schema of "training", with annotations.
input::Json training_schema();

}  // namespace equarx::config
