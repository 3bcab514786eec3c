#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topologies/grid.hpp"

namespace equarx::topology {

inline GridShape mesh(std::vector<std::uint32_t> lengths) {
  const std::size_t axes = lengths.size();
  return {std::move(lengths), std::vector<bool>(axes, false)};
}

inline GridShape torus(std::vector<std::uint32_t> lengths) {
  const std::size_t axes = lengths.size();
  return {std::move(lengths), std::vector<bool>(axes, true)};
}

/// "4x3*": the axis of length 3 wraps around.
inline std::string describe(const GridShape& shape) {
  std::string text;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    if (axis > 0) text += 'x';
    text += std::to_string(shape.lengths[axis]);
    if (shape.wraparound[axis]) text += '*';
  }
  return text;
}

/// All grids with 1 to 3 axes of length 1 to `longest` and at most `most_chips` chips, with every
/// combination of wraparound.
inline std::vector<GridShape> all_small_shapes(std::uint32_t longest, std::uint32_t most_chips) {
  std::vector<std::vector<std::uint32_t>> all_lengths;
  for (std::uint32_t a = 1; a <= longest; ++a) {
    all_lengths.push_back({a});
    for (std::uint32_t b = 1; b <= longest; ++b) {
      all_lengths.push_back({a, b});
      for (std::uint32_t c = 1; c <= longest; ++c) all_lengths.push_back({a, b, c});
    }
  }
  std::vector<GridShape> shapes;
  for (const auto& lengths : all_lengths) {
    for (unsigned choice = 0; choice < (1U << lengths.size()); ++choice) {
      GridShape shape = mesh(lengths);
      for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
        shape.wraparound[axis] = (choice >> axis) % 2 == 1;
      }
      if (chip_count(shape) <= most_chips) shapes.push_back(shape);
    }
  }
  return shapes;
}

}  // namespace equarx::topology
