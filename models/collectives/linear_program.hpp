// Linear programs of a few dozen variables.
#pragma once

#include <optional>
#include <vector>

namespace equarx::collectives {

/// Maximise objective . x subject to row . x <= limit for every row and x >= 0. Limits are
/// non-negative, so x = 0 is feasible and the search starts there.
struct LinearProgram {
  std::vector<double> objective;          ///< by variable
  std::vector<std::vector<double>> rows;  ///< each by variable
  std::vector<double> limits;             ///< by row, >= 0
};

/// Returns the variables of an optimal vertex, by the simplex method (Dantzig, 1947); always the
/// same one of several. std::nullopt if there is no maximum, or if rounding has hidden it, which is
/// possible with coefficients that differ by many orders of magnitude.
/// @throws std::invalid_argument if sizes do not match or a limit is negative
std::optional<std::vector<double>> maximize(const LinearProgram& program);

}  // namespace equarx::collectives
