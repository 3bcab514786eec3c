// In which orders the segments of a collective on several axes take them, and how large each segment is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/rank_grid.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// A part of the tensor that takes the axes in an order of its own: one segment, or in a full loop two,
/// which go round in opposite directions. One stage for each axis.
struct RingTour {
  std::vector<std::size_t> axes;     ///< in the order of the ReduceScatter; the AllGather goes back
  std::vector<std::uint32_t> slots;  ///< by stage, rising: on each axis, earlier slots go first
  std::uint32_t share = 1;           ///< its size, in relation to the other tours'

  bool operator==(const RingTour&) const = default;
};

/// The tours of a tensor of `elements` elements. Where axes are alike, tensors small, or their cut too fine,
/// one for every rotation of the axes, all of one size: each axis is then busy with one of them at any time.
/// Otherwise of the sizes, and in so many orders and slots, that all axes are busy all the time and are done
/// at the same time, as far as that can be (docs/model.md, C3d).
/// @throws std::invalid_argument if the order of axes does not name each of them once.
std::vector<RingTour> ring_tours(const RankGrid& grid, std::uint64_t elements,
                                 const RingOptions& options);

}  // namespace equarx::collectives
