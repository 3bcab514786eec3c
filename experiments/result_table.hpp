#pragma once

#include <string>

#include "experiments/experiment.hpp"

namespace equarx::experiments {

/// A result as a table for people, with a unit in every column.
std::string to_table(const ExperimentResult& result);

}  // namespace equarx::experiments
