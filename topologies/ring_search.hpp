#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Outcome of a ring search.
enum class RingOutcome : std::uint8_t {
  found,
  none,       ///< proved that no such ring exists
  not_found,  ///< the search gave up; a ring may exist
};

/// Result of find_ring().
struct RingSearch {
  RingOutcome outcome = RingOutcome::not_found;
  std::vector<ChipId> ring = {};  ///< set if found
  /// Set if not found: a clause such as "chip (0,0) has only 1 usable link, and a ring needs 2".
  std::string reason = {};
};

/// Default limit of search steps (visits of links); takes less than 2 s on one core.
inline constexpr std::uint64_t kRingSearchBudget = 200'000'000;

/// Searches for a Hamiltonian cycle that uses no link in `avoid`, starting at chip 0. A single chip
/// is a ring of one; two chips are a ring of two over one link. Deterministic.
///
/// `shape`, if the topology is make_grid(*shape), enables rings by construction (ring.hpp) under
/// all symmetries of the grid. If none fits, and for any other topology, the stages are:
///  1. Proofs that no ring exists: a chip with fewer than two usable links, disconnected parts, an
///     articulation point, or a bipartite graph with parts of different size.
///  2. A heuristic: a 2-factor (rings that together visit every chip once) whose rings are merged
///     by exchanging pairs of links until one is left.
///  3. A backtracking search, which proves that no ring exists if it runs to completion.
///
/// Chips on one switch are a ring in the order of their numbers: it passes the switch between any
/// two.
///
/// Throws std::invalid_argument if no link joins the chips of a pair in `avoid`, and
/// std::logic_error if `shape` has a different number of chips.
RingSearch find_ring(const Topology& topology, const std::vector<Cable>& avoid,
                     const std::optional<GridShape>& shape,
                     std::uint64_t budget = kRingSearchBudget);

}  // namespace equarx::topology
