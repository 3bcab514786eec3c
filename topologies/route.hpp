#pragma once

#include <optional>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// A shortest route over a grid, axis 0 first, along each axis the shorter way round; where both
/// ways are equally long, in the positive direction. Empty if `from` is `to`.
///
/// `grid` must be make_grid(shape); throws std::logic_error if it has other chips or lacks a link,
/// and std::invalid_argument for an unknown chip.
std::vector<LinkId> dimension_ordered_route(const GridShape& shape, const Topology& grid,
                                            ChipId from, ChipId to);

/// A shortest route over any topology, found breadth first; of equally short routes always the
/// same one. Empty if `from` is `to`.
///
/// Throws std::invalid_argument for an unknown chip, or if no route joins the two.
std::vector<LinkId> breadth_first_route(const Topology& topology, ChipId from, ChipId to);

/// The first chip that chip 0 cannot reach; none if the topology is connected.
std::optional<ChipId> find_unreachable_chip(const Topology& topology);

}  // namespace equarx::topology
