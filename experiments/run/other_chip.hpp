// The runs of an experiment as they would be on another chip.
#pragma once

#include <vector>

#include "experiments/run/results.hpp"

namespace equarx::run {

/// What a collective takes on a chip.
struct Timing {
  double time_s = 0.0;
  double speedup = 0.0;  ///< the baseline's time / this time
};

/// A plan of what `result` is of, for many runs on chips that differ from its own in parameters: with the
/// algorithms that were chosen, by whichever engine befits, without values, and without intervals.
plan::Plan for_other_chips(const ExperimentResult& result);

/// Times of the collectives of for_other_chips() on a chip, in their order. Empty if one of them fails.
/// @throws InputError if that chip cannot run them
std::vector<Timing> time_on(const plan::Plan& plan, const hardware::Chip& chip);

/// Whether time_on() may be called from several threads at once: not where SimGrid has to simulate.
bool can_run_side_by_side(const plan::Plan& plan);

}  // namespace equarx::run
