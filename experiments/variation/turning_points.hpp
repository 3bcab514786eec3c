// Machine parameters whose change would reverse a comparison.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/variation/variation.hpp"

namespace equarx::variation {

/// Break-even value of a parameter: a run and the baseline take the same time.
struct TurningPoint {
  std::string parameter;  ///< key
  double value = 0.0;     ///< the machine's value, base unit
  double turns_at = 0.0;  ///< break-even value, base unit
  std::string text;       ///< both with their unit: "0.9; break-even at 0.5"
};

/// Returns up to two parameters that reverse the comparison of a run with the baseline by the
/// smallest factor, at most 16, found by timing machines with other values. `sensitivities`: of
/// `runs`; `speedup`: nominal, of run number `run`. Empty if no parameter reverses it.
std::vector<TurningPoint> find_turning_points(const Varied& runs,
                                              const std::vector<Sensitivity>& sensitivities,
                                              std::size_t run, double speedup);

}  // namespace equarx::variation
