// Rings of a grid by construction, in every position that its symmetries allow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/grid.hpp"

namespace equarx::topology {

/// The first ring that avoids the cables, among hamiltonian_ring() under all orders of the axes,
/// reflections, and shifts along wrapped axes; none if each of them uses one, or if the steps run
/// out. It starts at chip 0. The steps that it takes are taken from `budget`.
///
/// The grid must have a ring: throws std::invalid_argument as hamiltonian_ring() does.
std::optional<std::vector<ChipId>> find_symmetric_ring(const GridShape& shape,
                                                       const std::vector<Cable>& avoid,
                                                       std::uint64_t& budget);

}  // namespace equarx::topology
