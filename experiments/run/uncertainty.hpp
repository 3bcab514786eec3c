// How far a time can be trusted: the same runs on chips as they may be.
#pragma once

#include <functional>
#include <string>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// Adds intervals to the runs of `result`, as its configuration asks: chips are drawn from what the hardware file
/// says of its parameters (hardware::ChipSampler), and 68 % of the times of these are within. None where a
/// collective fails, or nothing of the chip is uncertain. On up to `threads` threads; 0: one for each core.
/// `progress` is called with a line, from one thread at a time.
void add_intervals(ExperimentResult& result,
                   const std::function<void(const std::string&)>& progress, unsigned threads);

}  // namespace equarx::run
