// Labels of candidates that name another format than runs.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::config {

/// Returns a line for each label with the name of a format that its candidate does not use, with
/// the format that runs and the remedy. `dtype`: type of the tensor
std::vector<std::string> label_notes(const std::vector<CollectiveConfig>& collectives,
                                     numerics::ElementFormat dtype);

}  // namespace equarx::config
