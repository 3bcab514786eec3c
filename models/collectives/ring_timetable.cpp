#include "models/collectives/ring_timetable.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace equarx::collectives {
namespace {

struct Stage {
  std::size_t tour = 0;
  std::size_t stage = 0;
};

/// Occupancy of an axis' links.
struct AxisUse {
  double free = 0.0;  ///< time at which they are free again
  double step = 0.0;  ///< step time of the stage that occupies them until then
};

bool does(Collective collective, Phase phase) {
  return collective == Collective::all_reduce ||
         (collective == Collective::reduce_scatter) == (phase == Phase::reduce_scatter);
}

/// Returns the stages by slot; within a slot, the tour whose next stage is due first comes first.
std::vector<Stage> stages_in_turn(const std::vector<RingTour>& tours) {
  std::vector<Stage> stages;
  for (std::size_t tour = 0; tour < tours.size(); ++tour)
    for (std::size_t stage = 0; stage < tours[tour].axes.size(); ++stage)
      stages.push_back({tour, stage});
  std::ranges::stable_sort(stages, {}, [&](const Stage& at) {
    const std::vector<std::uint32_t>& slots = tours[at.tour].slots;
    constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
    return std::tuple(slots[at.stage], at.stage + 1 < slots.size() ? slots[at.stage + 1] : kNever);
  });
  return stages;
}

double chunk_elements(const RankGrid& grid, const RingTour& tour, std::size_t stage,
                      double segment_elements) {
  for (std::size_t i = 0; i <= stage; ++i) segment_elements /= grid.length(tour.axes[i]);
  return segment_elements;
}

/// Overhead of a step in which the links may move other data, in elements that a link direction
/// could move: a hop's 0.36 us at 45 GB/s (configs/hardware/tpu-v5e.json), in bf16; about three
/// times as long with the synchronisation of a quantized step.
constexpr double kPlainHop = 8192.0;
constexpr double kQuantizedHop = 24576.0;

}  // namespace

RingTimetable::RingTimetable(const RankGrid& grid, const std::vector<RingTour>& tours,
                             const std::vector<double>& segment_elements,
                             const RingOptions& options) {
  const double hop = options.quantizes() ? kQuantizedHop : kPlainHop;
  const std::vector<Stage> stages = stages_in_turn(tours);
  const std::vector<Stage> back(stages.rbegin(), stages.rend());
  std::vector<AxisUse> axes(grid.axes());
  std::vector<double> ready(tours.size());  // by tour: end of its previous stage
  for (const Phase phase : {Phase::reduce_scatter, Phase::all_gather}) {
    std::vector<Times>& times = phases_[static_cast<std::size_t>(phase)];
    for (const RingTour& tour : tours) times.emplace_back(tour.axes.size());
    if (!does(options.collective, phase)) continue;
    for (const auto& [tour, stage] : phase == Phase::reduce_scatter ? stages : back) {
      const std::size_t axis = tours[tour].axes[stage];
      const std::uint32_t length = grid.length(axis);
      const double link_time = options.link_chunks(axis, length) *
                               chunk_elements(grid, tours[tour], stage, segment_elements[tour]);
      // The longer direction.
      const std::uint32_t steps = ring_steps(length, options.style).front();
      StageTime& time = times[tour][stage];
      time.begin = std::max(ready[tour], axes[axis].free);
      time.early = axes[axis].step / 2.0;
      time.step = link_time / steps + hop;
      ready[tour] = time.begin + time.step * steps;
      axes[axis] = {time.begin + link_time, time.step};
      end_ = std::max(end_, ready[tour]);
    }
  }
}

}  // namespace equarx::collectives
