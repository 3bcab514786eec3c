// Partition of a tensor for a collective.
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

/// Returns part `index` of `range` cut into `parts`. Cuts are multiples of a vector register (from
/// the start of the range) if every part can have at least one, else of one element; sizes differ
/// by at most one register or element. So a piece of any size is cut without padding.
Range split(Range range, std::uint32_t parts, std::uint32_t index);

/// Size of the smallest part of `range` cut into `parts`; 0 if there are too few elements.
std::uint64_t smallest_part(Range range, std::uint32_t parts);

/// Granularity of a chunk.
struct Cut {
  std::uint32_t minishards = 1;   ///< parts with common scales
  std::uint32_t microshards = 1;  ///< parts of a minishard, each sent as one message

  bool operator==(const Cut&) const = default;
};

/// A part of the tensor that is processed independently of the others.
struct Segment {
  /// Axes that cut it, in this order: into one chunk per coordinate of the first axis, each of
  /// these into one per coordinate of the second, and so on down to shards. Empty if every rank
  /// processes all of it.
  std::vector<std::size_t> axes;
  /// Cut of each kind of chunk into minishards and microshards. cuts[u] is for chunks cut by all of
  /// `axes` except the last u: cuts[0] for shards. The last entry also applies to larger u.
  std::vector<Cut> cuts;
  /// Its size relative to the other segments.
  std::uint32_t share = 1;
};

/// A part of the tensor, relative to a rank: a microshard of the chunk of the rank at
/// `shard_offset`.
struct Tile {
  Offset shard_offset = 0;  ///< only its components along axes that cut the chunk matter
  std::uint32_t segment = 0;
  std::uint32_t uncut = 0;  ///< number of trailing axes that do not cut the chunk; 0 for a shard
  std::uint32_t minishard = 0;
  std::uint32_t microshard = 0;  ///< ignored for scales, which cover the whole minishard

  bool operator==(const Tile&) const = default;
};

/// A tensor cut into segments, chunks, minishards and microshards.
///
/// All chunks of a segment are cut alike, so that one program fits every rank. Only the end of the
/// tensor is padded, by less than segments x ranks elements.
class Partition {
 public:
  /// @throws std::invalid_argument if there are more microshards than elements
  Partition(std::uint64_t elements, RankGrid grid, std::vector<Segment> segments);

  std::uint64_t elements() const { return elements_; }
  const RankGrid& grid() const { return grid_; }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(segments_.size()); }
  const Segment& segment(std::uint32_t segment) const { return segments_[segment]; }
  /// Size of a segment in elements, including padding.
  std::uint64_t segment_elements(std::uint32_t segment) const {
    return begins_[segment + 1] - begins_[segment];
  }
  /// Start of a segment in the tensor; the last segments may start or end past elements().
  std::uint64_t segment_begin(std::uint32_t segment) const { return begins_[segment]; }

  const Cut& cut(std::uint32_t segment, std::uint32_t uncut = 0) const;
  /// Returns the cut of all chunks; std::nullopt if they differ.
  std::optional<Cut> common_cut() const;
  /// Size of a chunk in elements; of a shard by default.
  std::uint64_t chunk_elements(std::uint32_t segment, std::uint32_t uncut = 0) const {
    const std::vector<std::uint64_t>& chunks = chunks_[segment];
    return chunks[std::min<std::size_t>(uncut, chunks.size() - 1)];
  }
  /// Start of a rank's chunk within its segment.
  std::uint64_t chunk_begin(std::uint32_t segment, std::uint32_t uncut, Rank rank) const;

  /// Returns the minishard or microshard of a tile, within its chunk.
  Range minishard(const Tile& tile) const;
  Range microshard(const Tile& tile) const;

 private:
  void find_chunks(std::uint32_t segment);
  void require_full(std::uint32_t segment, std::uint32_t uncut) const;

  std::uint64_t elements_;
  RankGrid grid_;
  std::vector<Segment> segments_;
  std::vector<std::uint64_t> begins_ = {0};  ///< start of each segment, and the end of the last one
  std::vector<std::vector<std::uint64_t>> chunks_;  ///< elements, by segment and uncut axes
};

}  // namespace equarx::collectives
