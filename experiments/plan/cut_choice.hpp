// How finely a collective cuts its chunks, where the configuration does not say: as is fastest.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "models/collectives/rank_grid.hpp"

namespace equarx::plan {

/// What was chosen, and why.
struct CutChoice {
  collectives::PartSizes sizes;  ///< both 0: what is not given follows from sizes alone (CutRule)
  std::string reason;            ///< for people: "fastest of 9 tried"
};

/// Chooses what `collective` leaves open, by simulating some cuts of a few chips that stand for all, with the
/// costs of the chip. Minishards are as many as its elements_per_scale asks for, or up to three more, so no
/// scale group is larger than was asked for. Of cuts that take nearly the same time it is the coarsest.
///
/// Only where chips go round rings whose neighbours have links of their own: not on folded axes. Slow links and chips do not count, so that a fault does not change the program. Elsewhere, and for programs
/// too large to try, sizes alone decide, and the reason says so.
CutChoice choose_cuts(const config::CollectiveConfig& collective, const collectives::RankGrid& grid,
                      const config::ExperimentConfig& config);

}  // namespace equarx::plan
