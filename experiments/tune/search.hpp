// Best-first search with pruning over the candidates.
#pragma once

#include <vector>

#include "experiments/tune/trials.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::tune {

/// Result of a search.
struct TuneFound {
  TuneCounts counts;
  std::vector<InfeasibleCandidates> infeasible;
  std::vector<SkippedCandidates> skipped;
  std::vector<BrokenPromises> broken;
  std::vector<TunedCandidate> simulated;  ///< all of the front, and others
  bool theory_refuted = false;            ///< an error was below its floor; theory was not used
};

/// Goal of a search.
enum class Goal {
  front,    ///< the Pareto front
  fastest,  ///< the fastest candidate within the limits; slower ones are pruned whatever their error
};

/// Searches as described in tune.hpp: with theory, and again without if theory is refuted.
/// @throws InvariantError if a bound does not hold
TuneFound search(const TuneSpace& space, const TuneOptions& options, Goal goal, TuneTrials& trials,
                 const run::Progress& progress);

}  // namespace equarx::tune
