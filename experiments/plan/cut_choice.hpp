// Tiling of a collective's chunks that the configuration leaves open: the fastest.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "models/collectives/rank_grid.hpp"

namespace equarx::plan {

/// The chosen tiling and the reason.
struct CutChoice {
  collectives::PartSizes sizes;  ///< both 0: missing values follow from sizes alone (CutRule)
  std::string reason;            ///< for people: "best of 9"
};

/// Chooses the tiling that `collective` leaves open by simulating candidates on representative
/// chips, with the costs of the chip. Minishards are as many as its elements_per_scale requires, or
/// up to three more, so that no scale group exceeds the requested size. Among tilings of nearly
/// equal time the coarsest wins.
///
/// Applies only to rings whose neighbours have dedicated links: not to folded axes. Degraded links
/// and chips are ignored, so that a fault does not change the program. Otherwise, and for programs
/// too large to try, the tiling follows from sizes alone, as the reason states.
CutChoice choose_cuts(const config::CollectiveConfig& collective, const collectives::RankGrid& grid,
                      const config::ExperimentConfig& config);

}  // namespace equarx::plan
