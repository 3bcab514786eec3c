// Position of a unit in the tensor, and the tiles and ranks that lie in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/values/lanes.hpp"

namespace equarx::values {

/// One lane of one chunk: the chunk at a coordinate along the first axis of the lane's segment.
struct Unit {
  std::uint32_t coordinate = 0;
  std::uint32_t lane = 0;  ///< index into LaneTable::lanes()
};

/// A tile on one rank.
struct RankTile {
  collectives::Rank rank = 0;
  collectives::Range range;      ///< within the lane
  std::size_t in_minishard = 0;  ///< its start within the minishard
};

/// Number of distinct results: one per sender for an AllToAll, else 1 (the same on all ranks).
std::uint32_t result_rows(const collectives::Program& program);

/// Position and ranks of the current unit.
class UnitGeometry {
 public:
  /// Keeps a reference to `lanes`.
  explicit UnitGeometry(const LaneTable& lanes);

  /// Moves to a unit.
  void start(const Unit& unit);

  const collectives::Program& program() const { return lanes_.program(); }
  const Lane& lane() const { return *lane_; }
  /// Elements of the lane, including padding.
  std::size_t elements() const { return lane_->range.size(); }
  /// Elements of the largest lane of the program.
  std::size_t most_elements() const { return most_elements_; }
  /// Elements of the lane without padding.
  std::size_t real_elements() const { return real_elements_; }
  /// Elements of a row of the result (result_rows()) that exist.
  std::size_t real_elements(std::uint32_t row) const;
  /// Index of the unit's first element in the tensor, without padding.
  std::uint64_t first_element() const { return first_element_; }
  /// Index of the unit's first element in its segment.
  std::uint64_t first_in_segment() const {
    return first_element_ - partition_.segment_begin(lane_->segment);
  }
  /// The part of a range of the lane that is not padding.
  collectives::Range without_padding(const collectives::Range& range) const {
    const std::uint64_t end = std::min<std::uint64_t>(range.end, real_elements_);
    return {std::min(range.begin, end), end};
  }

  /// Offsets to the ranks with the same coordinate along the first axis.
  const std::vector<collectives::Offset>& peers() const { return peers_; }
  /// Returns the first of the ranks whose tile lies in this unit's chunk.
  collectives::Rank first_rank(const collectives::Tile& tile) const;
  /// Index of a rank among its peers.
  std::size_t slot_of(collectives::Rank rank) const;
  /// Returns the rank that encoded what `reader` reads.
  collectives::Rank producer_of(const collectives::Origin& origin, collectives::Rank reader) const {
    return origin.root ? 0 : grid_.move(reader, origin.offset);
  }

  /// Calls `visit(RankTile)` for every one of `ranks` whose tile lies in this unit, cut to the rows
  /// of its pair (Program::counts); skips empty ones.
  template <typename Visit>
  void for_each_tile(const collectives::Tile& tile, collectives::RankRange ranks,
                     Visit visit) const {
    const collectives::Range minishard = partition_.minishard(tile);
    const collectives::Range range = partition_.microshard(tile);
    const std::uint64_t unit_begin = first_in_segment();
    const collectives::Rank first = first_rank(tile);
    for (const collectives::Offset peer : peers_) {
      const collectives::Rank rank = grid_.move(first, peer);
      if (!ranks.contains(rank)) continue;
      const std::uint64_t begin =
          partition_.chunk_begin(lane_->segment, tile.uncut, grid_.move(rank, tile.shard_offset)) +
          range.begin;
      if (begin < unit_begin || begin >= unit_begin + elements()) continue;
      const std::uint64_t size =
          program().counts ? program().microshard({tile, rank}).size() : range.size();
      if (program().counts && size == 0) continue;
      const auto start = static_cast<std::size_t>(begin - unit_begin);
      visit(RankTile{rank,
                     {start, start + static_cast<std::size_t>(size)},
                     static_cast<std::size_t>(range.begin - minishard.begin)});
    }
  }

 private:
  const LaneTable& lanes_;
  const collectives::Partition& partition_;
  const collectives::RankGrid& grid_;
  std::size_t most_elements_ = 0;

  Unit unit_;
  const Lane* lane_ = nullptr;  ///< of unit_
  std::uint64_t first_element_ = 0;
  std::size_t real_elements_ = 0;
  std::vector<collectives::Offset> peers_;
};

}  // namespace equarx::values
