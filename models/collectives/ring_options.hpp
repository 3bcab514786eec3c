// What is asked of a collective on rings, and how far each direction of a ring goes.
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

/// Neighbours on a ring.
enum class Direction : std::uint8_t {
  forward,   ///< to the next place
  backward,  ///< to the one before
};
/// Values of Direction.
inline constexpr std::size_t kDirections = 2;
/// To go through them.
inline constexpr std::array<Direction, kDirections> kBothDirections = {Direction::forward,
                                                                       Direction::backward};

/// Of an array that has one entry for each direction.
constexpr std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

std::string_view name(Direction direction);

/// How the two directions of a ring share the work.
enum class RingStyle : std::uint8_t {
  full_loop,  ///< each carries half of every shard all the way round: ranks - 1 steps a phase
  semi_loop,  ///< they carry whole shards and meet: floor(ranks/2) and ceil(ranks/2) - 1 steps a
              ///< phase
};

std::string_view name(RingStyle style);

/// How a collective goes along rings.
struct RingOptions {
  RingStyle style = RingStyle::full_loop;
  /// Formats on the wire. A phase whose format has scales is quantized: FP32 sums, encoded anew at
  /// every ReduceScatter hop, once in the AllGather. One without scales sums in its format.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  CutRule cut;
  /// all_reduce, reduce_scatter or all_gather.
  Collective collective = Collective::all_reduce;
  /// The order in which the first segment takes the axes; all, as they are numbered, if empty.
  std::vector<std::size_t> axes{};
  /// Whether further segments take the axes in rotated order, so that all axes are busy at once.
  bool rotate_axes = true;
  /// Axes whose rings are folded onto a line of chips, so that both directions go over every link; none if
  /// empty.
  std::vector<bool> folded{};
  /// Rate of the links of folded axes, which several pairs of chips share, in multiples of that of the
  /// others; above 0. It decides how much of the tensor goes over which axis.
  double folded_rate = 1.0;

  bool quantizes() const { return reduce_scatter.scaled || all_gather.scaled; }
  /// Whether both directions of the rings along an axis go over the same links: where they are folded, and
  /// on an axis of two, whose chips have one cable.
  bool shares_links(std::size_t axis, std::uint32_t length) const {
    return length == 2 || is_folded(axis);
  }
  bool is_folded(std::size_t axis) const { return !folded.empty() && folded[axis]; }
  /// How long the busiest link direction of an axis takes in one phase for all segments that take the axes in
  /// one order, in multiples of the time of a chunk on a link that is not folded.
  double link_chunks(std::size_t axis, std::uint32_t length) const;
};

/// Steps of one phase along an axis of `length` places, in each Direction.
std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t length, RingStyle style);

/// Segments for each order of the axes: one for each independent direction.
std::uint32_t ring_segments(RingStyle style);

/// Directions that a segment uses: both, or, where segments take turns, the first of each pair forward.
std::vector<Direction> directions_of(RingStyle style, std::uint32_t segment);

}  // namespace equarx::collectives
