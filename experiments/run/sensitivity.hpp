// Sensitivity of times to each parameter of the chip.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// Computes the sensitivity of the collectives of `result` to each parameter of its chip, largest
/// first. Each parameter is changed by 1 % in both directions, as far as its range allows, and the
/// runs are timed again. Counts and parameters that are 0 are left out. Empty if a collective
/// fails. Runs on up to `threads` threads; 0: one per core.
std::vector<Sensitivity> find_sensitivities(const ExperimentResult& result, unsigned threads);

}  // namespace equarx::run
