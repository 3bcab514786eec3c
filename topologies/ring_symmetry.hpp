// Rings of a grid by construction, under all symmetries of the grid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/grid.hpp"

namespace equarx::topology {

/// Returns the first image of hamiltonian_ring(), under all axis orders, reflections and shifts
/// along wraparound axes, that avoids the given links; starts at chip 0. std::nullopt if every
/// image uses one of them, or the budget is exhausted. Steps are deducted from `budget`.
///
/// Throws std::invalid_argument if the grid has no ring, as hamiltonian_ring() does.
std::optional<std::vector<ChipId>> find_symmetric_ring(const GridShape& shape,
                                                       const std::vector<Cable>& avoid,
                                                       std::uint64_t& budget);

}  // namespace equarx::topology
