// A program split into lanes: parts whose values are independent of each other.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/values/lane_parts.hpp"

namespace equarx::values {

/// A part of the chunks of one segment, one chunk per coordinate along its first axis: the smallest
/// part that no sum and no scale crosses. On a single ring, a minishard of a shard, or a microshard
/// if no format has scales. On several axes, chunks are cut differently in each stage, and a lane
/// ends where all of these cuts coincide.
struct Lane {
  std::uint32_t segment = 0;
  collectives::Range range;  ///< within the chunk
  std::vector<collectives::InstructionId> instructions;
  std::vector<collectives::BufferId> buffers;  ///< in ascending order
};

/// The lanes of a program, by segment.
class LaneTable {
 public:
  /// Keeps a reference to `program`. `whole`: lanes have a single part each.
  explicit LaneTable(const collectives::Program& program, bool whole = false);

  const collectives::Program& program() const { return program_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  /// Elements of the largest part of a lane.
  std::uint64_t part_elements(const Lane& lane) const {
    const std::uint64_t elements = lane.range.size();
    return whole_ || elements < kPartElements ? elements : kPartElements;
  }
  /// Parts of a lane that are computed one after another.
  std::vector<collectives::Range> parts_of(const Lane& lane) const {
    return values::parts_of(lane.range.size(), whole_);
  }

 private:
  /// Chunks with scales in any phase, as (segment, number of axes that do not cut them).
  using ScaledChunks = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  void place_lanes(std::uint32_t segment, const ScaledChunks& scaled);
  template <typename Visit>
  void for_each_lane_of(const collectives::Tile& tile, bool whole_minishard, Visit visit);

  const collectives::Program& program_;
  bool whole_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> first_lane_;  ///< by segment
};

/// Number of trailing axes that do not cut the chunks that lanes are parts of: all but the first
/// axis.
std::uint32_t top_uncut(const collectives::Segment& segment);

}  // namespace equarx::values
