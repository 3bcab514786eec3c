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
  std::uint64_t part = 0;  ///< elements of its parts (lane_parts.hpp), all if it has columns
  /// Columns of its parts (lane_columns.hpp); all if these are ranges.
  std::uint64_t columns = numerics::kRegisterElements;
};

/// The first part of a lane, which is a largest one.
inline LanePart first_part(const Lane& lane) { return {{0, lane.part}, {0, lane.columns}}; }
/// Parts of a lane, which are computed one after another.
std::vector<LanePart> parts_of(const Lane& lane);

/// Parts that lanes may have.
enum class Parts : std::uint8_t {
  whole,   ///< a single one
  ranges,  ///< of consecutive elements
  any      ///< also of columns
};

/// The lanes of a program, by segment.
class LaneTable {
 public:
  /// Keeps a reference to `program`.
  explicit LaneTable(const collectives::Program& program, Parts parts = Parts::any);

  const collectives::Program& program() const { return program_; }
  const std::vector<Lane>& lanes() const { return lanes_; }

 private:
  /// Chunks with scales in any phase, as (segment, number of axes that do not cut them).
  using ScaledChunks = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  void divide(Parts parts);
  void place_lanes(std::uint32_t segment, const ScaledChunks& scaled);
  template <typename Visit>
  void for_each_lane_of(const collectives::Tile& tile, bool whole_minishard, Visit visit);

  const collectives::Program& program_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> first_lane_;  ///< by segment
};

/// Number of trailing axes that do not cut the chunks that lanes are parts of: all but the first
/// axis.
std::uint32_t top_uncut(const collectives::Segment& segment);

}  // namespace equarx::values
