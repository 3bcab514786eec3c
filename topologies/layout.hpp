// Positions of the chips and links of a drawing.
#pragma once

#include <optional>
#include <vector>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// A position or displacement in pixels: x to the right, y downwards.
struct Point {
  double x = 0.0;
  double y = 0.0;

  Point operator+(const Point& other) const { return {x + other.x, y + other.y}; }
  Point operator-(const Point& other) const { return {x - other.x, y - other.y}; }
  Point operator*(double factor) const { return {x * factor, y * factor}; }
};

/// Positions of chips and wraparound stubs, relative to an arbitrary origin.
struct Layout {
  Point box;                 ///< width and height of a chip
  std::vector<Point> chips;  ///< centre of each chip and switch
  /// By link direction: displacement from the centre of the start chip to the end of the stub;
  /// std::nullopt if the link does not wrap around.
  std::vector<std::optional<Point>> stubs;
};

/// Lays out a grid if the shape has at most three axes longer than 1, else a circle. Boxes fit the
/// longest label.
Layout lay_out(const Topology& topology, const std::optional<GridShape>& shape);

}  // namespace equarx::topology
