#pragma once

#include <cstdint>
#include <vector>

namespace equarx::topology {

/// Embeds a logical ring of `length` into an axis without wraparound. Returns the axis position of
/// each ring index: 0, 2, 4, ..., 5, 3, 1. Consecutive ring members, including the last and the
/// first, are at most 2 positions apart (dilation 2).
///
/// One trip round the ring crosses each link between neighbouring positions exactly once in each
/// direction. A forward and a backward ring running concurrently therefore load each link direction
/// twice; an axis with wraparound is loaded once.
///
/// Throws std::invalid_argument for a length of 0.
std::vector<std::uint32_t> folded_axis(std::uint32_t length);

}  // namespace equarx::topology
