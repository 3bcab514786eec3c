// Searches for rings in graphs without any known structure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/cable_graph.hpp"

namespace equarx::topology {

/// The two chips that each chip is joined to: one ring through all chips, or several that together
/// visit every chip once.
using RingCover = std::vector<std::array<ChipId, 2>>;

/// Whether the chips must be on one ring.
enum class CoverKind : std::uint8_t {
  one_ring,    ///< a Hamiltonian cycle
  many_rings,  ///< a 2-factor
};

/// What looking for a cover has found.
struct CoverSearch {
  std::optional<RingCover> cover;
  bool exhausted = false;  ///< without a cover: whether it is proved that there is none
};

/// Backtracking over cables, each of which is in the cover or out of it. What follows at once is not
/// tried: a chip with two cables in has its others out, a chip with two cables left has both in, and
/// (for one ring) the two ends of a path are not joined before it visits every chip, and what is
/// left must hang together. The end of a path with the fewest cables left goes first.
///
/// Every chip must have two cables or more. Each look at a cable or chip takes one step from
/// `budget`.
CoverSearch search_cover(const CableGraph& graph, CoverKind kind, std::uint64_t& budget);

/// Joins the rings of a cover into one: two rings that have cables a-b and c-d become one where
/// cables a-c and b-d exist. Where no two can be joined so, such an exchange at random (always the
/// same) changes the rings. None when the steps run out.
std::optional<RingCover> join_rings(const CableGraph& graph, RingCover cover,
                                    std::uint64_t& budget);

/// The chips of a cover that is one ring, from chip 0.
std::vector<ChipId> chips_along(const RingCover& cover);

}  // namespace equarx::topology
