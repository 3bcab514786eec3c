#pragma once

#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"

namespace equarx::result {

/// A result as a table for people, with a unit in every column.
std::string to_table(const run::ExperimentResult& result);

}  // namespace equarx::result
