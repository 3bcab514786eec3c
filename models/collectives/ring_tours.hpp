// Orders in which the segments of a collective on several axes use the axes, and the size of each
// segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/rank_grid.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// A part of the tensor with its own order of the axes: one segment, or two in a full loop, in
/// opposite directions. One stage per axis.
struct RingTour {
  std::vector<std::size_t> axes;  ///< in the order of the ReduceScatter; reversed in the AllGather
  std::vector<std::uint32_t> slots;  ///< by stage, ascending: on each axis, earlier slots go first
  std::uint32_t share = 1;           ///< its size relative to the other tours

  bool operator==(const RingTour&) const = default;
};

/// Returns the tours of a tensor of `elements` elements. If the axes are alike, the tensor is
/// small, or its cut too fine: one tour per rotation of the axes, all of the same size, so that
/// each axis is busy with one of them at any time. Otherwise sizes, orders and slots such that, as
/// far as possible, all axes are busy all the time and finish together (docs/model.md, C3d).
/// @throws std::invalid_argument if the order of axes is not a permutation of them
std::vector<RingTour> ring_tours(const RankGrid& grid, std::uint64_t elements,
                                 const RingOptions& options);

}  // namespace equarx::collectives
