// Halves of a graph between which few cables run.
#pragma once

#include <span>
#include <vector>

#include "topologies/cable_graph.hpp"

namespace equarx::topology {

/// The half that each chip is in, so that the cables between the halves weigh least; found by
/// trying them all. For a few chips: twice as many cuts for each chip more.
/// Throws std::logic_error for more than 32 chips.
std::vector<bool> lightest_halves(const CableGraph& graph, std::span<const double> weights);

/// Halves between which the cables weigh little: from several starting points, the improvement of
/// Kernighan and Lin until none is left.
std::vector<bool> light_halves(const CableGraph& graph, std::span<const double> weights);

}  // namespace equarx::topology
