#include "models/collectives/ring_reduce_scatter.hpp"

#include "models/collectives/ring_sums.hpp"

namespace equarx::collectives {
namespace {

void send_sums(RingStrand& strand, std::uint32_t minishard, std::uint32_t step) {
  std::vector<Path> paths;
  std::vector<Outgoing> outgoing;
  for (const Direction direction : strand.directions_with(step + 1)) {
    const std::uint32_t hops = strand.steps(direction) - step;
    const Tile tile = strand.tile(minishard, strand.offset_by(direction, hops));
    paths.push_back({direction, tile});
    outgoing.push_back({tile, {direction}});
  }
  if (step == 0) paths.clear();  // the first chip of a chunk sends its own values
  const bool scales_found =
      step > 0 && numerics::sends_scales(strand.format(Phase::reduce_scatter));
  RingSums(strand).sum_and_send(paths, Phase::reduce_scatter, outgoing, scales_found);
}

void finish_sums(RingStrand& strand, std::uint32_t minishard, bool store) {
  std::vector<Path> paths;
  for (const Direction direction : strand.directions_with(1))
    paths.push_back({direction, strand.tile(minishard, 0)});
  RingSums(strand).finish(paths, store);
}

}  // namespace

void write_reduce_scatter(RingStrand& strand) {
  const bool between = strand.stops_between();
  const bool gathers = strand.collective() != Collective::reduce_scatter && !between;
  const std::size_t stages = strand.stages().count();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    strand.enter(Phase::reduce_scatter, stage);
    strand.not_before(Phase::reduce_scatter, stage);
    for (std::uint32_t step = 0; step < strand.longest(); ++step) {
      if (step == 0)
        strand.begin_own_step();
      else
        strand.begin_step();
      strand.for_each_minishard(
          [&](std::uint32_t minishard) { send_sums(strand, minishard, step); });
      strand.end_step();
    }
    const bool last = stage + 1 == stages;
    if (last && gathers) return;
    strand.begin_last_arrivals();
    strand.for_each_minishard(
        [&](std::uint32_t minishard) { finish_sums(strand, minishard, last && !between); });
  }
}

}  // namespace equarx::collectives
