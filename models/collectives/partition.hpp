// How a tensor is cut for a collective.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/rank_grid.hpp"

namespace equarx::collectives {

/// A half-open range of elements.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Part `index` of `range` cut in `parts`. Cuts lie on multiples of a vector register (counted from
/// the start of the range) where every part can have at least one, else on any element; sizes
/// differ by at most one register or element. So a piece of any size is cut without padding.
Range split(Range range, std::uint32_t parts, std::uint32_t index);

/// Elements of the smallest part of `range` cut in `parts`; 0 if there are not enough elements.
std::uint64_t smallest_part(Range range, std::uint32_t parts);

/// How finely a chunk is cut.
struct Cut {
  std::uint32_t minishards = 1;   ///< parts that share scales
  std::uint32_t microshards = 1;  ///< parts of a minishard, each sent at once

  bool operator==(const Cut&) const = default;
};

/// A part of the tensor that goes its own way, independently of the others.
struct Segment {
  /// Axes that cut it, in this order: into one chunk for each place along the first axis, each of
  /// them into one for each place along the second, and so on down to shards. None if every rank
  /// has to do with all of it.
  std::vector<std::size_t> axes;
  /// How each kind of chunk is cut into minishards and microshards. cuts[u] is for chunks that all of
  /// `axes` but the last u have cut: cuts[0] for shards. Where the list ends, its last entry goes on.
  std::vector<Cut> cuts;
  /// Its size, in relation to the other segments'.
  std::uint32_t share = 1;
};

/// A part of the tensor as a rank names it: a microshard of the chunk that belongs to the rank
/// `shard_offset` away.
struct Tile {
  Offset shard_offset = 0;  ///< of which only the axes count that cut the chunk
  std::uint32_t segment = 0;
  std::uint32_t uncut = 0;  ///< axes, from the end, that do not cut the chunk; 0: it is a shard
  std::uint32_t minishard = 0;
  std::uint32_t microshard = 0;  ///< does not count for scales, which belong to the whole minishard

  bool operator==(const Tile&) const = default;
};

/// A tensor cut in segments, chunks, minishards and microshards.
///
/// All chunks of a segment are cut alike, so that one program fits every rank. Only the tensor's end
/// is padded, by less than segments x ranks elements.
class Partition {
 public:
  /// @throws std::invalid_argument if there are more microshards than elements to fill them.
  Partition(std::uint64_t elements, RankGrid grid, std::vector<Segment> segments);

  std::uint64_t elements() const { return elements_; }
  const RankGrid& grid() const { return grid_; }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(segments_.size()); }
  const Segment& segment(std::uint32_t segment) const { return segments_[segment]; }
  /// Elements of a segment, padding included.
  std::uint64_t segment_elements(std::uint32_t segment) const {
    return begins_[segment + 1] - begins_[segment];
  }
  /// Where a segment starts in the tensor; the last ones may start or end beyond elements().
  std::uint64_t segment_begin(std::uint32_t segment) const { return begins_[segment]; }

  const Cut& cut(std::uint32_t segment, std::uint32_t uncut = 0) const;
  /// How all chunks are cut; nothing if they are cut in different ways.
  std::optional<Cut> common_cut() const;
  /// Elements of a chunk; of a shard by default.
  std::uint64_t chunk_elements(std::uint32_t segment, std::uint32_t uncut = 0) const {
    const std::vector<std::uint64_t>& chunks = chunks_[segment];
    return chunks[std::min<std::size_t>(uncut, chunks.size() - 1)];
  }
  /// Where the chunk that belongs to a rank begins in its segment.
  std::uint64_t chunk_begin(std::uint32_t segment, std::uint32_t uncut, Rank rank) const;

  /// The minishard or microshard of a tile, within its chunk.
  Range minishard(const Tile& tile) const;
  Range microshard(const Tile& tile) const;

 private:
  void find_chunks(std::uint32_t segment);
  void require_full(std::uint32_t segment, std::uint32_t uncut) const;

  std::uint64_t elements_;
  RankGrid grid_;
  std::vector<Segment> segments_;
  std::vector<std::uint64_t> begins_ = {0};  ///< of each segment, and the end of the last one
  std::vector<std::vector<std::uint64_t>> chunks_;  ///< elements, by segment and uncut axes
};

}  // namespace equarx::collectives
