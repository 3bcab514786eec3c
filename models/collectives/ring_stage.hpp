// Rings of a segment and the tiles on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/program_writer.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// The rings of one segment, one along each of its axes, or along the first of them if the others
/// use another exchange. These are its stages: the ReduceScatter processes them first to last, the
/// AllGather last to first. Immutable.
class RingStages {
 public:
  /// `directions`: used by this segment. Adds their channels to the program.
  /// `axes_beyond`: number of trailing axes of the segment without rings
  RingStages(ProgramWriter& writer, RingStyle style, std::uint32_t segment,
             std::vector<Direction> directions, std::uint32_t axes_beyond = 0);

  std::size_t count() const { return axes_.size() - axes_beyond_; }
  std::uint32_t axes_beyond() const { return axes_beyond_; }
  std::uint32_t segment() const { return segment_; }
  const std::vector<Direction>& directions() const { return directions_; }

  /// Steps of a stage in a direction; 0 if the segment does not use it.
  std::uint32_t steps(Direction direction, std::size_t stage) const;
  /// Steps of its longer direction.
  std::uint32_t longest(std::size_t stage) const;
  /// Directions in which the stage has at least `steps` steps.
  std::vector<Direction> directions_with(std::uint32_t steps, std::size_t stage) const;

  ChannelId channel(Direction direction, std::size_t stage) const {
    return channels_[stage][index(direction)];
  }

  /// Offset of `hops` hops along a stage's axis.
  Offset offset_by(Direction direction, std::uint32_t hops, std::size_t stage) const;
  /// Number of axes that do not cut a stage's chunks in the ReduceScatter: the axes of later
  /// stages.
  std::uint32_t uncut(std::size_t stage) const {
    return static_cast<std::uint32_t>(axes_.size() - 1 - stage);
  }
  /// The later axes with rings: processed after the stage in the ReduceScatter, before it in the
  /// AllGather.
  AxisSet later_axes(std::size_t stage) const;

  Tile tile(std::uint32_t minishard, Offset offset, std::uint32_t uncut) const {
    return {.shard_offset = offset, .segment = segment_, .uncut = uncut, .minishard = minishard};
  }

 private:
  void add_channels(ProgramWriter& writer, std::size_t stage);

  const RankGrid& grid_;
  RingStyle style_;
  std::uint32_t segment_;
  const std::vector<std::size_t>& axes_;  ///< one stage per axis
  std::vector<Direction> directions_;
  std::uint32_t axes_beyond_;
  std::vector<std::array<ChannelId, kDirections>> channels_;  ///< by stage
};

}  // namespace equarx::collectives
