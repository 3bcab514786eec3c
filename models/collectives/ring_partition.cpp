#include "models/collectives/ring_partition.hpp"

#include <utility>
#include <vector>

#include "models/collectives/divide_up.hpp"

namespace equarx::collectives {
namespace {

/// Chunks used only by the ReduceScatter are cut for its format; shards for the format with scales.
std::vector<Cut> choose_cuts(const RankGrid& grid, std::uint64_t segment_elements,
                             const std::vector<std::size_t>& axes, const RingOptions& options) {
  std::vector<Cut> cuts(axes.size());
  std::uint64_t chunk = segment_elements;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    chunk = divide_up(chunk, grid.length(axes[i]));
    const bool shard = i + 1 == axes.size();
    const bool gather = shard && !options.reduce_scatter.scaled && options.all_gather.scaled;
    const bool only_gather = options.collective == Collective::all_gather;
    cuts[axes.size() - 1 - i] = choose_cut(
        options.cut, gather || only_gather ? options.all_gather : options.reduce_scatter, chunk);
  }
  return cuts;
}

}  // namespace

Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const std::vector<RingTour>& tours, const RingOptions& options) {
  const std::uint32_t strands = ring_segments(options.style);
  std::uint64_t shares = 0;
  for (const RingTour& tour : tours) shares += tour.share;
  std::vector<Segment> segments;
  for (const RingTour& tour : tours) {
    const std::uint64_t segment_elements = divide_up(elements * tour.share, shares * strands);
    segments.insert(
        segments.end(), strands,
        {tour.axes, choose_cuts(grid, segment_elements, tour.axes, options), tour.share});
  }
  return {elements, grid, std::move(segments)};
}

std::vector<double> elements_of_tours(const Partition& partition, RingStyle style) {
  std::vector<double> elements;
  for (std::uint32_t segment = 0; segment < partition.segments(); segment += ring_segments(style))
    elements.push_back(static_cast<double>(partition.segment_elements(segment)));
  return elements;
}

Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const RingOptions& options) {
  return make_ring_partition(grid, elements, ring_tours(grid, elements, options), options);
}

}  // namespace equarx::collectives
