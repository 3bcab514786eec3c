#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Chips of the largest grid. Far above any machine (the largest TPU pod has 9,216); it keeps a
/// slip of the keyboard from filling the memory.
inline constexpr std::uint32_t kMaxChips = std::uint32_t{1} << 24;

/// One number for each axis: where a chip is, axis 0 first.
using Coordinates = std::vector<std::uint32_t>;

/// A mesh or torus of any number of dimensions, wrapped around or not axis by axis.
///
/// Chips are numbered row by row with the last axis fastest: on 4x2, chip 1 is (0,1) and chip 2 is
/// (1,0). Every function that takes a shape throws std::invalid_argument if there is no axis, a
/// length is 0, the two vectors differ in size, or there are more than kMaxChips chips.
struct GridShape {
  /// Chips along each axis; axis 0 is the first number of "4x2".
  std::vector<std::uint32_t> lengths;
  /// Whether each axis is closed to a ring. It adds no link to an axis of length 1 (the link would
  /// join a chip to itself) or 2 (it would double the cable that is there).
  std::vector<bool> wraparound;
};

/// "4x2" -> {4, 2}. Throws std::invalid_argument for anything but positive whole numbers joined by
/// a small x, and for more than kMaxChips chips.
std::vector<std::uint32_t> parse_lengths(std::string_view text);

/// {4, 2} -> "4x2".
std::string format_lengths(const std::vector<std::uint32_t>& lengths);

/// Chips of the whole grid.
std::uint32_t chip_count(const GridShape& shape);

/// Whether the axis has cables that join its last chips to its first: it is wrapped and longer
/// than 2.
bool has_wraparound_links(const GridShape& shape, std::size_t axis);

/// Throws std::invalid_argument for an unknown chip.
Coordinates coordinates_of(const GridShape& shape, ChipId chip);

/// Throws std::invalid_argument for coordinates outside the grid.
ChipId chip_at(const GridShape& shape, const Coordinates& coordinates);

/// The chips and links of the grid, labelled by their coordinates.
Topology make_grid(const GridShape& shape);

}  // namespace equarx::topology
