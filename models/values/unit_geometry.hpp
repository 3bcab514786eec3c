// Position of a unit in the tensor, and the tiles and ranks that lie in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/values/lanes.hpp"

namespace equarx::values {

/// One lane of one chunk, or a part of it: the chunk at a coordinate along the first axis of the
/// lane's segment.
struct Unit {
  std::uint32_t coordinate = 0;
  std::uint32_t lane = 0;  ///< index into LaneTable::lanes()
  LanePart part = {};      ///< empty: all of the lane
};

/// The part of a tile in a unit, on one rank.
struct RankTile {
  collectives::Rank rank = 0;
  collectives::Range range;      ///< within the unit
  std::size_t in_minishard = 0;  ///< its start within the minishard's part in the unit
  bool begins_tile = true;       ///< false: the tile begins in an earlier unit
};

/// Elements that a tile stands for.
enum class Extent : std::uint8_t {
  microshard,
  minishard  ///< scales cover the whole minishard
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
  /// Elements of the unit, including padding.
  std::size_t elements() const { return part_.size(); }
  /// The columns of the unit; its elements are not consecutive unless it has all.
  const collectives::Range& columns() const { return part_.columns; }
  bool has_all_columns() const { return part_.has_all_columns(); }
  /// Elements of the largest lane of the program, or of its largest part.
  std::size_t most_elements() const { return most_elements_; }
  /// True if the unit is a range of its lane only.
  bool is_part() const { return range_.size() < lane_->range.size(); }
  /// Elements of the unit without padding.
  std::size_t real_elements() const { return real_elements_; }
  /// Elements of a row of the result (result_rows()) that exist.
  std::size_t real_elements(std::uint32_t row) const;
  /// Index in the tensor of the first element of the unit's range, of all columns.
  std::uint64_t first_element() const { return first_element_; }
  /// Index of the unit's first element in its segment.
  std::uint64_t first_in_segment() const {
    return first_element_ - partition_.segment_begin(lane_->segment);
  }
  /// The part of a range of the unit that is not padding.
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

  /// Elements of a rank's minishard in this unit.
  std::uint64_t minishard_elements(const collectives::WrittenTile& tile) const;

  /// Calls `visit(RankTile)` for every one of `ranks` whose tile has elements in this unit, cut to
  /// the rows of its pair (Program::counts).
  template <typename Visit>
  void for_each_tile(const collectives::Tile& tile, collectives::RankRange ranks, Visit visit,
                     Extent extent = Extent::microshard) const {
    const collectives::Range minishard = partition_.minishard(tile);
    const collectives::Range range =
        extent == Extent::minishard ? minishard : partition_.microshard(tile);
    const std::uint64_t unit_begin = first_in_segment();
    const std::uint64_t unit_end = unit_begin + range_.size();
    const collectives::Rank first = first_rank(tile);
    const std::vector<std::uint64_t>& chunks = chunk_begins(tile.uncut);
    for (const collectives::Offset peer : peers_) {
      const collectives::Rank rank = grid_.move(first, peer);
      if (!ranks.contains(rank)) continue;
      const std::uint64_t chunk = chunks[grid_.move(rank, tile.shard_offset)];
      const std::uint64_t begin = chunk + range.begin;
      const std::uint64_t size =
          program().counts ? program().microshard({tile, rank}).size() : range.size();
      const std::uint64_t from = std::max(begin, unit_begin);
      const std::uint64_t to = std::min(begin + size, unit_end);
      if (from >= to) continue;
      if (has_all_columns()) {
        const std::uint64_t together =
            is_part() ? std::max(chunk + minishard.begin, unit_begin) : chunk + minishard.begin;
        visit(RankTile{rank,
                       {from - unit_begin, to - unit_begin},
                       static_cast<std::size_t>(from - together),
                       from == begin});
        continue;
      }
      const collectives::Range places = {part_.before(from - unit_begin),
                                         part_.before(to - unit_begin)};
      if (places.begin == places.end) continue;
      const std::uint64_t together = std::max(chunk + minishard.begin, unit_begin) - unit_begin;
      visit(RankTile{rank, places, static_cast<std::size_t>(places.begin - part_.before(together)),
                     from == begin && is_in_columns(from - unit_begin)});
    }
  }

 private:
  void find_chunks();
  /// Starts of the ranks' chunks within the segment.
  const std::vector<std::uint64_t>& chunk_begins(std::uint32_t uncut) const {
    return chunk_begins_[std::min<std::size_t>(uncut, chunk_begins_.size() - 1)];
  }
  bool is_in_columns(std::uint64_t element) const {
    const std::uint64_t column = element % numerics::kRegisterElements;
    return part_.columns.begin <= column && column < part_.columns.end;
  }

  const LaneTable& lanes_;
  const collectives::Partition& partition_;
  const collectives::RankGrid& grid_;
  std::size_t most_elements_ = 0;

  Unit unit_;
  const Lane* lane_ = nullptr;  ///< of unit_
  LanePart part_;               ///< of unit_
  collectives::Range range_;    ///< of unit_ within its chunk
  std::uint64_t first_element_ = 0;
  std::size_t real_elements_ = 0;
  std::vector<collectives::Offset> peers_;
  std::uint32_t segment_ = 0;                             ///< of chunk_begins_
  std::vector<std::vector<std::uint64_t>> chunk_begins_;  ///< by number of uncut axes
};

}  // namespace equarx::values
