// Files referenced by a configuration.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::config {

/// Paths of the tensor, chip, topology and model files, as the user wrote them; without built-in
/// ones.
std::vector<std::string> named_files(const ExperimentConfig& config);

}  // namespace equarx::config
