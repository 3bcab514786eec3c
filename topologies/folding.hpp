#pragma once

#include <cstdint>
#include <vector>

namespace equarx::topology {

/// Places a logical ring of `length` on an axis without wraparound: the axis position of each place
/// of the ring, 0, 2, 4, ..., 5, 3, 1. Places that follow each other are at most 2 positions apart
/// (dilation 2), the last and the first, too.
///
/// Going once round the ring crosses each link between two neighbouring positions exactly once in
/// each direction. So a ring forward and one backward, at the same time, load each link direction
/// twice, where an axis with wraparound is loaded once.
///
/// Throws std::invalid_argument for a length of 0.
std::vector<std::uint32_t> folded_axis(std::uint32_t length);

}  // namespace equarx::topology
