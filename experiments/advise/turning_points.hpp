// What an advice hangs on: the parameters of the chip that could turn it.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::advise {

/// Another value of a parameter, at which the plain way and the quantized one take the same time.
struct TurningPoint {
  std::string parameter;  ///< its key in a hardware file
  double value = 0.0;     ///< of the chip; these two in the base unit
  double turns_at = 0.0;
};

/// Of `compared`, whose first run is the plain way and whose second the quantized one: the parameters that turn
/// the comparison by the smallest change, up to 16-fold and two of them. Found by simulating both on chips with
/// other values. Empty if none turns it.
std::vector<TurningPoint> find_turning_points(const run::ExperimentResult& compared);

}  // namespace equarx::advise
