// What times depend on: each parameter of the chip, one at a time.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// How the collectives of `result` depend on the parameters of its chip that are no counts, the most telling
/// first. Each is moved by 1 % either way, where it may be so, and the runs are timed again; without those that
/// are 0, of which there is no per cent. Empty where a collective fails. On up to `threads` threads; 0: one for
/// each core.
std::vector<Sensitivity> find_sensitivities(const ExperimentResult& result, unsigned threads);

}  // namespace equarx::run
