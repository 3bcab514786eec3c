// Linear programmes of a few dozen variables.
#pragma once

#include <optional>
#include <vector>

namespace equarx::collectives {

/// Maximise objective . x, where every row . x is at most its limit and no x is negative. No limit is
/// negative, so x = 0 is allowed and the search can start there.
struct LinearProgram {
  std::vector<double> objective;          ///< by variable
  std::vector<std::vector<double>> rows;  ///< each by variable
  std::vector<double> limits;             ///< by row, >= 0
};

/// The variables of a best corner, by the simplex method (Dantzig, 1947). Of several best corners always the
/// same one. Nothing if there is no maximum, or if rounding has hidden it, which coefficients can do that differ
/// by many orders of magnitude. @throws std::invalid_argument if sizes do not match or a limit is negative.
std::optional<std::vector<double>> maximize(const LinearProgram& program);

}  // namespace equarx::collectives
