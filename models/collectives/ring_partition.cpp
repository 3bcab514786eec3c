#include "models/collectives/ring_partition.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collectives/divide_up.hpp"

namespace equarx::collectives {
namespace {

/// Every order of the axes that a segment takes them in.
std::vector<std::vector<std::size_t>> axis_orders(const RankGrid& grid,
                                                  const RingOptions& options) {
  std::vector<std::size_t> order = options.axes;
  if (order.empty()) {
    order.resize(grid.axes());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t axis = 0; axis < std::max(sorted.size(), grid.axes()); ++axis)
    if (sorted.size() != grid.axes() || sorted[axis] != axis)
      throw std::invalid_argument(
          fmt::format("the order of axes {} does not name each of the {} axes once",
                      fmt::join(order, ", "), grid.axes()));
  std::vector<std::vector<std::size_t>> orders = {order};
  while (options.rotate_axes && orders.size() < order.size()) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
    orders.push_back(order);
  }
  return orders;
}

/// Chunks that only the ReduceScatter uses are cut for its format, shards for whichever has scales.
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
                              const RingOptions& options) {
  const auto orders = axis_orders(grid, options);
  const std::uint32_t strands = ring_segments(options.style);
  const std::uint64_t segment_elements = divide_up(elements, orders.size() * strands);
  std::vector<Segment> segments;
  for (const auto& axes : orders)
    segments.insert(segments.end(), strands,
                    {axes, choose_cuts(grid, segment_elements, axes, options)});
  return {elements, grid, std::move(segments)};
}

}  // namespace equarx::collectives
