// Files referenced by a configuration.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/step.hpp"

namespace equarx::config {

/// Paths of the tensor, chip, topology and model files, as the user wrote them; without built-in
/// ones.
std::vector<std::string> named_files(const ExperimentConfig& config);

/// The same of a step: also its model, and the files of its collectives' values.
std::vector<std::string> named_files(const StepConfig& config);

}  // namespace equarx::config
