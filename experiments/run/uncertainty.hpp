// Monte Carlo uncertainty of times: the same runs on chips with sampled parameters.
#pragma once

#include <functional>
#include <string>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// Adds 68 % intervals to the runs of `result`: chips are sampled from the parameter uncertainties
/// of the hardware file (hardware::ChipSampler), as often as the configuration requests. Adds none
/// if a collective fails or no parameter is uncertain. Runs on up to `threads` threads; 0: one per
/// core. `progress` is called with a line, from one thread at a time.
void add_intervals(ExperimentResult& result,
                   const std::function<void(const std::string&)>& progress, unsigned threads);

}  // namespace equarx::run
