// Ring search in arbitrary graphs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/cable_graph.hpp"

namespace equarx::topology {

/// By chip, its two neighbours: one ring through all chips, or several rings that together visit
/// every chip once.
using RingCover = std::vector<std::array<ChipId, 2>>;

/// Kind of cover to search for.
enum class CoverKind : std::uint8_t {
  one_ring,    ///< a Hamiltonian cycle
  many_rings,  ///< a 2-factor
};

/// Result of search_cover().
struct CoverSearch {
  std::optional<RingCover> cover;
  bool exhausted = false;  ///< no cover exists, proved by exhaustive search
};

/// Backtracking over links, each either in the cover or not, with constraint propagation: a chip
/// with two links in excludes its other links; a chip with two links left includes both; and, for
/// one ring, a path is not closed before it visits every chip, and the remaining graph must stay
/// connected. Branches on the path end with the fewest undecided links first.
///
/// Every chip must have at least two links. Each visit of a link or chip deducts one step from
/// `budget`.
CoverSearch search_cover(const CableGraph& graph, CoverKind kind, std::uint64_t& budget);

/// Merges the rings of a cover into one: two rings with links a-b and c-d are merged if links a-c
/// and b-d exist. If no two rings can be merged, a pseudo-random exchange of the same kind
/// (deterministic) alters the rings. Returns std::nullopt when the budget is exhausted.
std::optional<RingCover> join_rings(const CableGraph& graph, RingCover cover,
                                    std::uint64_t& budget);

/// Returns the chips of a single-ring cover in ring order, starting at chip 0.
std::vector<ChipId> chips_along(const RingCover& cover);

}  // namespace equarx::topology
