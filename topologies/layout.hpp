// Where the chips of a topology are drawn.
#pragma once

#include <optional>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// A place or a displacement in a picture: x to the right, y downwards, in pixels.
struct Point {
  double x = 0.0;
  double y = 0.0;

  Point operator+(const Point& other) const { return {x + other.x, y + other.y}; }
  Point operator-(const Point& other) const { return {x - other.x, y - other.y}; }
  Point operator*(double factor) const { return {x * factor, y * factor}; }
};

/// Where a drawing has its chips and cables, in its own units of length.
struct Layout {
  Point box;                 ///< width and height of a chip
  std::vector<Point> chips;  ///< centre of each chip
  /// For a cable that wraps around, by link: from the middle of the link's start, where it leaves.
  std::vector<std::optional<Point>> stubs;
};

/// As a grid if there is a shape of up to three axes longer than 1, else on a circle. Boxes are wide
/// enough for the longest label.
Layout lay_out(const Topology& topology, const std::optional<GridShape>& shape);

}  // namespace equarx::topology
