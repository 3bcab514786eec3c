#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.hpp"

namespace equarx::experiments {

using TableRow = std::vector<std::string>;

/// Rows of equal length in columns as wide as their widest cell; the first to the left, others to the right.
std::string aligned_table(const std::vector<TableRow>& rows);

/// A result as a table for people, with a unit in every column.
std::string to_table(const ExperimentResult& result);

}  // namespace equarx::experiments
