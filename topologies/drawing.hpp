#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Largest number of chips that is drawn; larger drawings are not legible.
inline constexpr std::uint32_t kMaxDrawnChips = 4096;

/// Optional contents of a drawing, in addition to chips and links.
struct Drawing {
  std::optional<GridShape> shape = {};  ///< shape passed to make_grid(): drawn as a grid
  std::vector<ChipId> ring = {};        ///< highlighted; of chips that links join
  std::vector<double> values = {};      ///< 0 to 1 by link direction: its width and colour
  std::string value_name = {};          ///< e.g. "utilisation"
  std::string caption = {};             ///< one line above the drawing
};

/// Renders the topology as an SVG document.
///
/// A grid with one or two axes longer than 1 is drawn as a grid, axis 0 downwards; with three such
/// axes, as overlapping layers along the first. A wraparound link is drawn as two stubs, one at
/// each end. Chips of any other topology are placed on a circle. With values, each link direction
/// is a separate line, on the right as seen from its start. Colours are safe for red-green colour
/// blindness.
///
/// Throws std::invalid_argument for more than kMaxDrawnChips chips, and std::logic_error if the
/// shape does not match the topology, or `values` is neither empty nor one value from 0 to 1 per
/// link direction.
std::string draw_svg(const Topology& topology, const Drawing& drawing);

}  // namespace equarx::topology
