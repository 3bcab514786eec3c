#include "experiments/plan/placement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "models/collectives/hierarchical_program.hpp"
#include "topologies/folding.hpp"
#include "topologies/grid.hpp"
#include "topologies/route.hpp"

namespace equarx::plan {

using collectives::Rank;
using collectives::RankGrid;
using topology::ChipId;

std::vector<topology::LinkId> cables_between(const config::PlannedTopology& topology, ChipId from,
                                             ChipId to) {
  if (topology.slice) {
    const ChipId chips = topology.slice->graph.chip_count();
    std::vector<topology::LinkId> links = cables_between(*topology.slice, from % chips, to % chips);
    for (topology::LinkId& link : links) link += from / chips * topology.slice->graph.link_count();
    return links;
  }
  return topology.shape
             ? topology::dimension_ordered_route(*topology.shape, topology.graph, from, to)
             : topology::breadth_first_route(topology.graph, from, to);
}

namespace {

/// Rank coordinates are chip coordinates; along an axis without wraparound the ring is folded, so
/// that neighbours are at most two hops apart.
std::vector<ChipId> place_on_grid(const RankGrid& grid, const topology::GridShape& shape) {
  std::vector<std::vector<std::uint32_t>> positions;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    const std::uint32_t length = shape.lengths[axis];
    positions.push_back(topology::folded_axis(length));
    if (length == 2 || shape.wraparound[axis])
      std::iota(positions.back().begin(), positions.back().end(), 0U);
  }
  std::vector<ChipId> chips;
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    topology::Coordinates coordinates;
    std::size_t rank_axis = 0;
    for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
      const bool single = shape.lengths[axis] == 1;  // not an axis of the ranks
      coordinates.push_back(single ? 0 : positions[axis][grid.coordinate(rank, rank_axis)]);
      if (!single) ++rank_axis;
    }
    chips.push_back(topology::chip_at(shape, coordinates));
  }
  return chips;
}

/// Position of a bit of the chips' ids in the order of rounds; smaller comes first.
using RoundKey = std::tuple<std::size_t, std::uint32_t, bool>;

/// Orders bits by the distance of the partners. Ties on a grid: the shorter axis first, which has
/// fewer bits and therefore carries the larger exchange with less load; then the axis with
/// wraparound. The order in which the axes are written plays no part.
RoundKey round_key(const config::PlannedTopology& topology, std::uint32_t bit) {
  const ChipId partner = ChipId{1} << bit;
  const std::size_t hops = cables_between(topology, 0, partner).size();
  if (!topology.shape) return {hops, 0, false};
  const topology::Coordinates coordinates = topology::coordinates_of(*topology.shape, partner);
  const auto axis = static_cast<std::size_t>(
      std::ranges::find_if(coordinates, [](std::uint32_t at) { return at != 0; }) -
      coordinates.begin());
  return {hops, topology.shape->lengths[axis],
          !topology::has_wraparound_links(*topology.shape, axis)};
}

/// Partners differ in one bit of their chips' ids; the nearest pairs come first, because they
/// exchange the most data.
std::vector<ChipId> place_by_bits(const RankGrid& grid, const config::PlannedTopology& topology) {
  std::vector<std::uint32_t> bits(grid.axes());
  std::iota(bits.begin(), bits.end(), 0U);
  std::ranges::stable_sort(bits, {}, [&](std::uint32_t bit) { return round_key(topology, bit); });
  std::vector<ChipId> chips(grid.ranks());
  for (Rank rank = 0; rank < grid.ranks(); ++rank)
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      chips[rank] |= grid.coordinate(rank, axis) << bits[axis];
  return chips;
}

/// Slice by slice, each placed along the axes of its grid.
std::vector<ChipId> place_in_slices(const RankGrid& grid, const config::PlannedTopology& topology) {
  const std::vector<ChipId> within =
      place_on_grid(collectives::within_slice(grid), *topology.slice->shape);
  std::vector<ChipId> chips;
  for (std::uint32_t slice = 0; slice < grid.length(collectives::kSliceAxis); ++slice)
    for (const ChipId chip : within)
      chips.push_back(slice * static_cast<ChipId>(within.size()) + chip);
  return chips;
}

/// Ranks row by row, along the axes from the shortest: written in any order, a grid is the same.
std::vector<ChipId> place_in_canonical_order(const topology::GridShape& shape) {
  const std::vector<std::size_t> axes = topology::canonical_axes(shape);
  std::vector<ChipId> chips;
  topology::Coordinates at(axes.size());
  for (ChipId rank = 0; rank < topology::chip_count(shape); ++rank) {
    ChipId rest = rank;
    for (std::size_t i = axes.size(); i-- > 0; rest /= shape.lengths[axes[i]])
      at[axes[i]] = rest % shape.lengths[axes[i]];
    chips.push_back(topology::chip_at(shape, at));
  }
  return chips;
}

}  // namespace

std::vector<ChipId> place_ranks(config::Algorithm algorithm, const RankGrid& grid,
                                const MachineContext& context) {
  switch (algorithm->layout) {
    case collectives::RankLayout::ring: return context.ring();
    case collectives::RankLayout::grid: return place_on_grid(grid, *context.topology().shape);
    case collectives::RankLayout::hypercube: return place_by_bits(grid, context.topology());
    case collectives::RankLayout::slices_of_grids: return place_in_slices(grid, context.topology());
    case collectives::RankLayout::slices:
    case collectives::RankLayout::nodes:
    case collectives::RankLayout::graph: break;
    case collectives::RankLayout::any:
      if (context.topology().shape) return place_in_canonical_order(*context.topology().shape);
      break;
  }
  std::vector<ChipId> chips(grid.ranks());
  std::iota(chips.begin(), chips.end(), ChipId{0});
  return chips;
}

}  // namespace equarx::plan
