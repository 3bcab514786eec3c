// The files that a configuration names.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::config {

/// Of its tensor, chip, topology and model, as the user wrote them; not those that are built in.
std::vector<std::string> named_files(const ExperimentConfig& config);

}  // namespace equarx::config
