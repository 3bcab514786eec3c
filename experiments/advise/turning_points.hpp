// Chip parameters whose change would reverse an advice.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::advise {

/// Break-even value of a parameter: plain and quantized take the same time.
struct TurningPoint {
  std::string parameter;  ///< key in a hardware file
  double value = 0.0;     ///< the chip's value, base unit
  double turns_at = 0.0;  ///< break-even value, base unit
};

/// Returns up to two parameters that reverse the comparison by the smallest factor, at most 16,
/// found by simulating chips with other values. `compared`: first run plain, second quantized.
/// Empty if no parameter reverses it.
std::vector<TurningPoint> find_turning_points(const run::ExperimentResult& compared);

}  // namespace equarx::advise
