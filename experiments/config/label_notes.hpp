// Labels of candidates that name another format than runs.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::config {

/// Returns a line for each label with the name of a format that its candidate does not use, with
/// the format that runs and the remedy.
std::vector<std::string> label_notes(const ExperimentConfig& config);

}  // namespace equarx::config
