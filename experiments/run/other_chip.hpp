// The runs of an experiment as they would be on another chip.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// What a collective takes on a chip.
struct Timing {
  double time_s = 0.0;
  double speedup = 0.0;  ///< the baseline's time / this time
};

/// Whether a collective did not end, so that its time on another chip says nothing.
bool has_failed(const ExperimentResult& result);

/// A plan of what `result` is of, for many runs on chips that differ from its own in parameters: with the
/// algorithms that were chosen, by whichever engine befits, without values, and without intervals.
plan::Plan for_other_chips(const ExperimentResult& result);

/// Times of the collectives of for_other_chips() on a chip, in their order. Empty if one of them fails.
/// @throws InputError if that chip cannot run them
std::vector<Timing> time_on(const plan::Plan& plan, const hardware::Chip& chip);

/// Calls `work` with 0 to count - 1, each once; it may call time_on() with `plan`. On `threads` threads (0: as
/// many as this computer has), but in turn where SimGrid has to simulate, which cannot run several times at once.
void for_each_chip(const plan::Plan& plan, std::size_t count, unsigned threads,
                   const std::function<void(std::size_t)>& work);

}  // namespace equarx::run
