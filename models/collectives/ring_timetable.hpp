// Timetable of the stages of a collective on several axes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/collectives/rank_grid.hpp"
#include "models/collectives/ring_options.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {

/// The stages of all tours, scheduled on the links of each axis: a stage begins when the previous
/// one of its tour is finished and the axis is free. The AllGather takes them in reverse order.
/// Time is in elements that a link direction moves.
///
/// Only determines the order in which a chip's core issues its instructions; the actual times are
/// simulated.
class RingTimetable {
 public:
  /// `segment_elements`: size of the segments of each tour, equal within a tour
  RingTimetable(const RankGrid& grid, const std::vector<RingTour>& tours,
                const std::vector<double>& segment_elements, const RingOptions& options);

  /// Start of a tour's stage, by the index of its axis in the order of the ReduceScatter.
  double begin(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).begin;
  }
  /// Lead with which the core may issue its instructions, so that its links need not wait for them:
  /// until half of the last step of the stage that occupies the links before. 0 if there is no such
  /// stage.
  double early(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).early;
  }
  /// Duration of each of its steps.
  double step(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).step;
  }
  /// End of the last stage.
  double end() const { return end_; }

 private:
  struct StageTime {
    double begin = 0.0;
    double early = 0.0;
    double step = 0.0;
  };
  using Times = std::vector<StageTime>;  ///< by stage

  const StageTime& time(Phase phase, std::size_t tour, std::size_t stage) const {
    return phases_[static_cast<std::size_t>(phase)][tour][stage];
  }

  std::array<std::vector<Times>, kPhases> phases_;  ///< by tour
  double end_ = 0.0;
};

}  // namespace equarx::collectives
