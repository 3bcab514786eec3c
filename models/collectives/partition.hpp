// How a tensor is cut for a collective.
#pragma once

#include <cstdint>

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

/// A tensor cut in shards (one per rank), each in segments (one per independent direction), each in
/// minishards (what shares scales), each in microshards (what is sent at once).
///
/// Every shard is cut alike, so that one program fits every rank. Only the tensor's end is padded,
/// to equal segments: by less than shards x segments elements.
class Partition {
 public:
  /// All counts are at least 1.
  /// @throws std::invalid_argument if there are more microshards than elements to fill them.
  Partition(std::uint64_t elements, std::uint32_t shards, std::uint32_t segments,
            std::uint32_t minishards, std::uint32_t microshards);

  std::uint64_t elements() const { return elements_; }
  std::uint32_t shards() const { return shards_; }
  std::uint32_t segments() const { return segments_; }
  std::uint32_t minishards() const { return minishards_; }
  std::uint32_t microshards() const { return microshards_; }

  /// Elements of one segment, padding included.
  std::uint64_t segment_elements() const { return segment_elements_; }
  /// Where a segment starts in the tensor; the last ones may start or end beyond elements().
  std::uint64_t segment_begin(std::uint32_t shard, std::uint32_t segment) const;
  /// A minishard within its segment.
  Range minishard(std::uint32_t minishard) const;
  /// A microshard within its minishard.
  Range microshard(std::uint32_t minishard, std::uint32_t microshard) const;

 private:
  std::uint64_t elements_;
  std::uint32_t shards_;
  std::uint32_t segments_;
  std::uint32_t minishards_;
  std::uint32_t microshards_;
  std::uint64_t segment_elements_;
};

}  // namespace equarx::collectives
