// Options of a collective on rings, and the number of steps in each direction of a ring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {

/// Directions on a ring.
enum class Direction : std::uint8_t {
  forward,   ///< to the next rank
  backward,  ///< to the previous rank
};
/// Number of values of Direction.
inline constexpr std::size_t kDirections = 2;
/// All values, for iteration.
inline constexpr std::array<Direction, kDirections> kBothDirections = {Direction::forward,
                                                                       Direction::backward};

/// Index into an array with one entry per direction.
constexpr std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

std::string_view name(Direction direction);

/// Use of the two directions of a ring.
enum class RingStyle : std::uint8_t {
  full_loop,  ///< each carries half of every shard around the whole ring: ranks - 1 steps per phase
  /// They carry whole shards and meet: floor(ranks/2) and ceil(ranks/2) - 1 steps per phase.
  semi_loop,
};

std::string_view name(RingStyle style);

/// Options of a collective on rings.
struct RingOptions {
  RingStyle style = RingStyle::full_loop;
  /// Wire formats. A phase whose format has scales is quantized: FP32 sums, re-encoded at every
  /// ReduceScatter hop, encoded once in the AllGather. A phase without scales sums in its format.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  CutRule cut = {};
  /// all_reduce, reduce_scatter or all_gather.
  Collective collective = Collective::all_reduce;
  /// Order of axes of the first segment; all, in ascending order, if empty.
  std::vector<std::size_t> axes{};
  /// True if further segments use rotated orders of the axes, so that all axes are busy at once.
  bool rotate_axes = true;
  /// Axes whose rings are folded onto a line of chips, so that both directions use every link; none
  /// if empty.
  std::vector<bool> folded{};
  /// Rate of the links of folded axes, which several pairs of chips share, relative to the other
  /// axes; above 0. Determines the share of the tensor on each axis.
  double folded_rate = 1.0;

  bool quantizes() const { return reduce_scatter.scaled || all_gather.scaled; }
  /// True if both directions of the rings along an axis use the same links: on folded axes, and on
  /// axes of length 2, whose chips share one link.
  bool shares_links(std::size_t axis, std::uint32_t length) const {
    return length == 2 || is_folded(axis);
  }
  bool is_folded(std::size_t axis) const { return !folded.empty() && folded[axis]; }
  /// Time of the busiest link direction of an axis in one phase, over all segments with one order
  /// of axes, in multiples of the time of a chunk on a link of an unfolded axis.
  double link_chunks(std::size_t axis, std::uint32_t length) const;
};

/// Steps of one phase along an axis of `length` ranks, by Direction.
std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t length, RingStyle style);

/// Number of segments per order of axes: one per independent direction.
std::uint32_t ring_segments(RingStyle style);

/// Directions used by a segment: both, or, if segments alternate, forward for the first of each
/// pair.
std::vector<Direction> directions_of(RingStyle style, std::uint32_t segment);

}  // namespace equarx::collectives
