// Reruns an experiment on chips with other parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// Timing of one collective on one chip.
struct Timing {
  double time_s = 0.0;
  double speedup = 0.0;  ///< the baseline's time / this time
};

/// True if a collective did not finish, so that its time on another chip is meaningless.
bool has_failed(const ExperimentResult& result);

/// Returns a plan of the experiment of `result` for many runs on chips with other parameters: with
/// the algorithms already chosen, an automatic engine, no values and no intervals.
plan::Plan for_other_chips(const ExperimentResult& result);

/// Returns the timings of the collectives of for_other_chips() on a chip, in order; empty if one
/// fails.
/// @throws InputError if the chip cannot run them
std::vector<Timing> time_on(const plan::Plan& plan, const hardware::Chip& chip);

/// Calls `work` once for each of 0 to count - 1; it may call time_on() with `plan`. Runs on
/// `threads` threads (0: one per core), but sequentially if SimGrid is needed, which is not
/// reentrant.
void for_each_chip(const plan::Plan& plan, std::size_t count, unsigned threads,
                   const std::function<void(std::size_t)>& work);

}  // namespace equarx::run
