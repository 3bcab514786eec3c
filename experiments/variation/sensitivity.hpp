// Sensitivity of times to each parameter of the machine.
#pragma once

#include <vector>

#include "experiments/variation/variation.hpp"

namespace equarx::variation {

/// Computes the sensitivity of the runs to each parameter of their machine, largest first. Each
/// parameter is changed by 1 % in both directions, as far as its range allows, and the runs are
/// timed again. Counts, parameters that are 0, and those for which a run fails are left out.
std::vector<Sensitivity> sensitivities(const Varied& runs);

}  // namespace equarx::variation
