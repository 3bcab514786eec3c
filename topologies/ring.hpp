#pragma once

#include <vector>

#include "topologies/grid.hpp"

namespace equarx::topology {

/// A ring through every chip of make_grid(shape): each chip once, each linked to the next one and
/// the last one to the first. It starts at chip 0. A single chip is a ring of one, and two chips
/// are a ring of two that goes there and back over one cable.
///
/// It finds a ring whenever there is one. Throws std::invalid_argument, saying why, if there is
/// none: on a line, and on a grid with an odd number of chips and no wraparound links.
///
/// Construction: choose one axis of length n as the columns, and as rows the m places of all other
/// axes in the order of a snake. Go through the rows to and fro, and leave column 0 for the way
/// back:
///
///     0 - 1 - 2 - 3
///     |           |
///     .   . - . - .
///     |   |
///     .   . - . - . -> column 0
///
/// The last row ends in column 1 if m is even, else in column n - 1. So the ring closes if m is
/// even, if n = 2, or if the columns are wrapped around. With an even number of chips and two axes
/// longer than 1 some choice makes m even. With an odd number any wraparound links will do, and
/// without them there is no ring: neighbours differ in the parity of their coordinates' sum, so a
/// ring would have as many even chips as odd ones.
std::vector<ChipId> hamiltonian_ring(const GridShape& shape);

}  // namespace equarx::topology
