#include "topologies/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace equarx::topology {
namespace {

// Pixels, for 11-pixel labels.
constexpr double kLetter = 6.6;
constexpr double kMargin = 10.0;
constexpr double kBoxHeight = 20.0;
constexpr double kGap = 44.0;      // between chips of a plane
constexpr double kLayerGap = 8.0;  // between layers
constexpr double kStub = 17.0;     // visible part of a stub

Point box_of(const Topology& topology) {
  std::size_t letters = 1;
  for (ChipId chip = 0; chip < topology.node_count(); ++chip) {
    letters = std::max(letters, topology.label(chip).size());
  }
  return {kMargin + kLetter * static_cast<double>(letters), kBoxHeight};
}

std::vector<std::size_t> long_axes(const GridShape& shape) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    if (shape.lengths[axis] > 1) axes.push_back(axis);
  }
  return axes;
}

/// Displacement between neighbouring chips along each axis.
std::vector<Point> axis_steps(const GridShape& shape, const Point& box) {
  const std::vector<std::size_t> axes = long_axes(shape);
  std::vector<Point> steps(shape.lengths.size());
  // Layers are offset to the lower right, far enough for their links to pass between other boxes.
  const Point layer{box.x / 2 + kLayerGap, box.y + kLayerGap};
  const double layers = axes.size() == 3 ? shape.lengths[axes.front()] - 1.0 : 0.0;
  const Point cell = Point{box.x + kGap, box.y + kGap} + layer * layers;
  if (!axes.empty()) steps[axes.back()] = {cell.x, 0.0};
  if (axes.size() >= 2) steps[axes[axes.size() - 2]] = {0.0, cell.y};
  if (axes.size() == 3) steps[axes.front()] = layer;
  return steps;
}

/// Displacement from the centre of a box to the end of a stub in the direction of `step`.
Point stub_along(const Point& step, const Point& box) {
  const double length = std::hypot(step.x, step.y);
  const Point direction = step * (1.0 / length);
  const double to_side = direction.x == 0.0 ? box.y : box.x / std::abs(direction.x);
  const double to_edge = direction.y == 0.0 ? box.x : box.y / std::abs(direction.y);
  return direction * (std::min(to_side, to_edge) / 2 + kStub);
}

Layout grid_layout(const Topology& topology, const GridShape& shape) {
  Layout layout{.box = box_of(topology), .chips = {}, .stubs = {}};
  const std::vector<Point> steps = axis_steps(shape, layout.box);
  for (ChipId chip = 0; chip < topology.chip_count(); ++chip) {
    const Coordinates coordinates = coordinates_of(shape, chip);
    Point centre;
    for (std::size_t axis = 0; axis < steps.size(); ++axis) {
      centre = centre + steps[axis] * coordinates[axis];
    }
    layout.chips.push_back(centre);
  }
  layout.stubs.resize(topology.link_count());
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    const Coordinates from = coordinates_of(shape, topology.link(id).from);
    const Coordinates to = coordinates_of(shape, topology.link(id).to);
    for (std::size_t axis = 0; axis < steps.size(); ++axis) {
      if (std::max(from[axis], to[axis]) - std::min(from[axis], to[axis]) <= 1) continue;
      const double sign = from[axis] > to[axis] ? 1.0 : -1.0;
      layout.stubs[id] = stub_along(steps[axis] * sign, layout.box);
    }
  }
  return layout;
}

Layout circle_layout(const Topology& topology) {
  constexpr double kMinRadius = 130.0;
  Layout layout{.box = box_of(topology), .chips = {}, .stubs = {}};
  layout.stubs.resize(topology.link_count());
  const std::uint32_t chips = topology.chip_count();
  const double spacing = std::max(layout.box.x, layout.box.y) + kMargin;
  const double radius = std::max(kMinRadius, chips * spacing / (2 * std::numbers::pi));
  for (ChipId chip = 0; chip < chips; ++chip) {
    const double angle = 2 * std::numbers::pi * chip / chips;
    layout.chips.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  layout.chips.resize(topology.node_count());  // a switch in the centre
  return layout;
}

}  // namespace

Layout lay_out(const Topology& topology, const std::optional<GridShape>& shape) {
  constexpr std::size_t kMaxAxes = 3;
  if (shape && long_axes(*shape).size() <= kMaxAxes) return grid_layout(topology, *shape);
  return circle_layout(topology);
}

}  // namespace equarx::topology
