// "training" of a step: a transformer that is trained.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "models/steps/training.hpp"

namespace equarx::config {

/// A training step as a configuration names it.
struct TrainingConfig {
  std::string model_name;  ///< as the user wrote it: a name, or the path of a file
  steps::Training training;
};

/// @throws input::InputError
TrainingConfig read_training(input::ObjectReader reader);

/// As read_training() reads it, with every default filled in.
input::Json training_json(const TrainingConfig& config);

}  // namespace equarx::config
