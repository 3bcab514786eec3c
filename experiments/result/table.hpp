#pragma once

#include <string>

#include "experiments/run/experiment.hpp"

namespace equarx::result {

/// Content of the table.
struct TableOptions {
  bool verbose = false;  ///< all columns, operations, tiling, symmetry, engine and busiest links
};

/// Formats a result as a table with units and notes. Unless `verbose`, less important columns of a
/// table wider than output::kTableWidth are left out.
std::string to_table(const run::ExperimentResult& result, const TableOptions& options = {});

}  // namespace equarx::result
