#pragma once

#include <vector>

#include "topologies/grid.hpp"

namespace equarx::topology {

/// Returns a Hamiltonian cycle of make_grid(shape), starting at chip 0. A single chip is a ring of
/// one; two chips are a ring of two over one link.
///
/// Succeeds whenever a ring exists. Throws std::invalid_argument with the reason otherwise: on a
/// line, and on a grid with an odd number of chips and no wraparound links.
///
/// Construction: one axis of length n provides the columns, and the m positions of all other axes,
/// in snake order, the rows. Traverse the rows back and forth, leaving column 0 for the return
/// path:
///
///     0 - 1 - 2 - 3
///     |           |
///     .   . - . - .
///     |   |
///     .   . - . - . -> column 0
///
/// The last row ends in column 1 if m is even, else in column n - 1. The ring therefore closes if m
/// is even, if n = 2, or if the columns wrap around. With an even number of chips and two axes
/// longer than 1, some choice makes m even. With an odd number, any wraparound axis suffices;
/// without one no ring exists: neighbours differ in the parity of their coordinate sum, so a ring
/// would visit as many even chips as odd ones.
std::vector<ChipId> hamiltonian_ring(const GridShape& shape);

}  // namespace equarx::topology
