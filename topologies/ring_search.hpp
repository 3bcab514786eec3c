#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// How the search for a ring ended.
enum class RingOutcome : std::uint8_t {
  found,
  none,       ///< proved: there is no such ring
  not_found,  ///< the search gave up; there may be one
};

/// What looking for a ring through every chip has found.
struct RingSearch {
  RingOutcome outcome = RingOutcome::not_found;
  std::vector<ChipId> ring = {};  ///< if found
  std::string reason = {};        ///< if not: a clause such as "chip (0,0) has only 1 usable cable"
};

/// Steps (cables looked at) after which the search gives up: below 2 s on one core.
inline constexpr std::uint64_t kRingSearchBudget = 200'000'000;

/// A ring through every chip that uses none of the cables to avoid: each chip once, each joined to
/// the next one and the last one to the first. It starts at chip 0. A single chip is a ring of one,
/// and two chips are a ring of two over one cable. The same question always has the same answer.
///
/// `shape`, if the topology is make_grid(*shape), allows rings by construction (ring.hpp) under all
/// symmetries of the grid. What they do not answer, and any other topology, is searched:
///  1. Proofs that there is no ring: a chip with fewer than two usable cables, parts that no cable
///     joins, a chip whose loss would cut the rest in two, or two colours of chips (each cable
///     joins both) that are not equally many.
///  2. A heuristic: rings that together visit every chip once (a 2-factor), joined by exchanging
///     two cables for two others until one ring is left.
///  3. A backtracking search, which also proves that there is none if it comes to its end.
///
/// Throws std::invalid_argument if no cable joins the chips of a pair to avoid, and
/// std::logic_error if `shape` has another number of chips.
RingSearch find_ring(const Topology& topology, const std::vector<Cable>& avoid,
                     const std::optional<GridShape>& shape,
                     std::uint64_t budget = kRingSearchBudget);

}  // namespace equarx::topology
