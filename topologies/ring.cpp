#include "topologies/ring.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::topology {
namespace {

/// Returns the axis of the columns (the comb's teeth) for which the ring closes, if any.
std::optional<std::size_t> find_comb_axis(const GridShape& shape) {
  const std::uint32_t chips = chip_count(shape);
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    const std::uint32_t length = shape.lengths[axis];
    const bool even_snake = (chips / length) % 2 == 0;
    if (length == 2 || (length > 1 && (even_snake || has_wraparound_links(shape, axis)))) {
      return axis;
    }
  }
  return std::nullopt;
}

/// Returns the coordinates of step `position` of a snake through all axes but `comb_axis`, whose
/// coordinate stays 0. Every other traversal of an axis is reversed, so consecutive steps are
/// neighbours.
Coordinates snake_step(const GridShape& shape, std::size_t comb_axis, std::uint32_t position) {
  Coordinates coordinates(shape.lengths.size(), 0);
  for (std::size_t axis = shape.lengths.size(); axis-- > 0;) {
    if (axis == comb_axis) continue;
    const std::uint32_t length = shape.lengths[axis];
    const std::uint32_t step = position % length;
    position /= length;
    coordinates[axis] = position % 2 == 0 ? step : length - 1 - step;
  }
  return coordinates;
}

[[noreturn]] void refuse(const GridShape& shape) {
  const auto longer_than_one = [](std::uint32_t length) { return length > 1; };
  const bool is_line = std::ranges::count_if(shape.lengths, longer_than_one) == 1;
  const char* why =
      is_line ? "it is a line without wraparound; use a slice with two sides of 2 or more, or a "
                "wrapped axis"
              : "it has an odd number of chips and no wraparound; use a slice with an even side, "
                "or a torus";
  throw std::invalid_argument(fmt::format("no Hamiltonian ring exists on the {} mesh: {}",
                                          format_lengths(shape.lengths), why));
}

}  // namespace

std::vector<ChipId> hamiltonian_ring(const GridShape& shape) {
  const std::uint32_t chips = chip_count(shape);
  if (chips == 1) return {0};
  const std::optional<std::size_t> comb_axis = find_comb_axis(shape);
  if (!comb_axis) refuse(shape);

  const std::uint32_t columns = shape.lengths[*comb_axis];
  const std::uint32_t rows = chips / columns;
  std::vector<ChipId> ring{0};
  std::vector<ChipId> way_back;
  ring.reserve(chips);
  for (std::uint32_t row = 0; row < rows; ++row) {
    Coordinates coordinates = snake_step(shape, *comb_axis, row);
    if (row > 0) way_back.push_back(chip_at(shape, coordinates));
    for (std::uint32_t tooth = 1; tooth < columns; ++tooth) {
      coordinates[*comb_axis] = row % 2 == 0 ? tooth : columns - tooth;
      ring.push_back(chip_at(shape, coordinates));
    }
  }
  ring.insert(ring.end(), way_back.rbegin(), way_back.rend());
  return ring;
}

}  // namespace equarx::topology
