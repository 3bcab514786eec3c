// Which candidates are simulated.
#pragma once

#include <vector>

#include "experiments/tune/trials.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::tune {

/// What a search has found.
struct TuneFound {
  TuneCounts counts;
  std::vector<UnfitCandidates> unfit;
  std::vector<UntriedCandidates> untried;
  std::vector<TunedCandidate> simulated;  ///< all that are on the front, and others
  bool theory_refuted = false;            ///< an error was below its floor, and theory was not used
};

/// Goes through the space as tune.hpp describes it: with theory, and once more without if it proves wrong.
/// @throws InvariantError if a bound does not hold.
TuneFound search(const TuneSpace& space, const TuneOptions& options, TuneTrials& trials,
                 const run::Progress& progress);

}  // namespace equarx::tune
