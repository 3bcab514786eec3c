// Balanced minimum-weight bisection of a link graph.
#pragma once

#include <span>
#include <vector>

#include "topologies/cable_graph.hpp"

namespace equarx::topology {

/// Returns the side of each chip in a minimum-weight bisection, by exhaustive search. The number of
/// cuts doubles with each chip. Throws std::logic_error for more than 32 chips.
std::vector<bool> lightest_halves(const CableGraph& graph, std::span<const double> weights);

/// Returns the side of each chip in a low-weight bisection: Kernighan-Lin passes from several
/// starting partitions, until none improves.
std::vector<bool> light_halves(const CableGraph& graph, std::span<const double> weights);

}  // namespace equarx::topology
