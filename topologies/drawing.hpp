#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Chips of the largest topology that is drawn; more would not be legible.
inline constexpr std::uint32_t kMaxDrawnChips = 4096;

/// What a drawing shows besides chips and cables. All of it may be left out.
struct Drawing {
  std::optional<GridShape> shape = {};  ///< of make_grid(): drawn as a grid
  std::vector<ChipId> ring = {};        ///< is highlighted
  std::vector<double> values = {};      ///< 0 to 1 by link: width and colour of its direction
  std::string value_name = {};          ///< what the values are: "utilisation"
  std::string caption = {};             ///< one line above it
};

/// An SVG picture of the topology (a whole file, as text).
///
/// A grid of one or two axes longer than 1 is drawn as a grid, axis 0 downwards; of three axes as
/// layers along the first of them, one behind the other. A cable that wraps around is two stubs, one
/// at each end. Any other topology has its chips on a circle. With values each link direction is
/// a line of its own, on the right as seen from its start. Colours can be told apart by people who
/// do not see red or green.
///
/// Throws std::invalid_argument for more than kMaxDrawnChips chips, and std::logic_error if the
/// shape is of another topology, or there is not one value from 0 to 1 for each link, or none.
std::string draw_svg(const Topology& topology, const Drawing& drawing);

}  // namespace equarx::topology
