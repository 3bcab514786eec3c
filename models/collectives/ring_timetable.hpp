// When the stages of the segments of a collective on several axes are due.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/collectives/rank_grid.hpp"
#include "models/collectives/ring_options.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {

/// The stages of all tours as the links of each axis can take them, one after the other: a stage begins when
/// the one before it, of the same tour, is over and the axis is free. The AllGather takes them in the opposite
/// order. Time is counted in elements that a link direction moves.
///
/// It only decides the order in which a chip's core gives its orders; when things happen is simulated.
class RingTimetable {
 public:
  /// `segment_elements`: of each tour's segments, which are all of one size.
  RingTimetable(const RankGrid& grid, const std::vector<RingTour>& tours,
                const std::vector<double>& segment_elements, const RingOptions& options);

  /// Of a tour's stage, by the number of its axis in the order of the ReduceScatter.
  double begin(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).begin;
  }
  /// How long before that the core may give the orders for it, so that its links need not wait for them: when
  /// the last step of the stage that has the links until then is half over. 0 if there is none.
  double early(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).early;
  }
  /// How long each step of it takes.
  double step(Phase phase, std::size_t tour, std::size_t stage) const {
    return time(phase, tour, stage).step;
  }
  /// When all is over.
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
