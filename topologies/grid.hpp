#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Largest grid, in chips. Far above any real machine (the largest TPU pod has 9,216 chips);
/// prevents a typo from exhausting memory.
inline constexpr std::uint32_t kMaxChips = std::uint32_t{1} << 24;

/// Coordinates of a chip, one per axis, axis 0 first.
using Coordinates = std::vector<std::uint32_t>;

/// A mesh or torus with any number of axes, each with or without wraparound.
///
/// Chips are numbered in row-major order: on 4x2, chip 1 is (0,1) and chip 2 is (1,0). Every
/// function that takes a shape throws std::invalid_argument if it has no axes, a length is 0, the
/// two vectors differ in size, or it has more than kMaxChips chips.
struct GridShape {
  /// Chips along each axis; axis 0 is the first number of "4x2".
  std::vector<std::uint32_t> lengths;
  /// True for each axis that is closed to a ring. Adds no link to an axis of length 1 (it would be
  /// a self-loop) or 2 (it would duplicate the existing link).
  std::vector<bool> wraparound;
};

/// Parses "4x2", "4X2" or "4*2" to {4, 2}. Throws std::invalid_argument for anything but positive
/// integers joined by x, and for more than kMaxChips chips.
std::vector<std::uint32_t> parse_lengths(std::string_view text);

/// Formats {4, 2} as "4x2".
std::string format_lengths(const std::vector<std::uint32_t>& lengths);

/// Number of chips of the grid.
std::uint32_t chip_count(const GridShape& shape);

/// True if links join the last chips of the axis to the first: it wraps around and is longer than
/// 2.
bool has_wraparound_links(const GridShape& shape, std::size_t axis);

/// Returns the axes, the shortest first, then those without wraparound links, then by number: an
/// order that does not depend on the order in which axes are written, up to equal ones.
std::vector<std::size_t> canonical_axes(const GridShape& shape);

/// Throws std::invalid_argument for an unknown chip.
Coordinates coordinates_of(const GridShape& shape, ChipId chip);

/// Throws std::invalid_argument for coordinates outside the grid.
ChipId chip_at(const GridShape& shape, const Coordinates& coordinates);

/// Builds the grid; chips are labelled by their coordinates.
Topology make_grid(const GridShape& shape);

}  // namespace equarx::topology
