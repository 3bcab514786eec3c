#pragma once

#include <optional>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Returns a dimension-ordered shortest route on a grid, in the order of canonical_axes(); along a
/// wraparound axis in the shorter direction. Ties alternate, so that both directions of an axis of
/// even length carry as much. Empty if `from` equals `to`.
///
/// `grid` must be make_grid(shape). Throws std::logic_error if it has a different number of chips
/// or lacks a link, and std::invalid_argument for an unknown chip.
std::vector<LinkId> dimension_ordered_route(const GridShape& shape, const Topology& grid,
                                            ChipId from, ChipId to);

/// Returns a shortest route on any topology by breadth-first search; ties are broken
/// deterministically. Empty if `from` equals `to`.
///
/// Throws std::invalid_argument for an unknown chip, or if no route exists.
std::vector<LinkId> breadth_first_route(const Topology& topology, ChipId from, ChipId to);

/// Returns the lowest chip that chip 0 cannot reach; std::nullopt if the topology is connected.
std::optional<ChipId> find_unreachable_chip(const Topology& topology);

}  // namespace equarx::topology
