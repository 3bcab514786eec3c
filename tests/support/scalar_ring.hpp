// The oracle for the value executor: a ring AllReduce as described in the paper, independent of the
// program, one shard after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/collectives/ring_program.hpp"
#include "models/values/tensor_source.hpp"
#include "tests/support/reference_codec.hpp"
#include "tests/support/rings.hpp"

namespace equarx::testing {

/// A minishard, encoded and decoded.
inline std::vector<float> through_wire(const numerics::BlockFormat& format,
                                       const std::vector<float>& values) {
  const ReferenceCodec codec(format);
  const std::size_t groups = numerics::scale_count(format, values.size());
  std::vector<float> amax(groups);
  std::vector<float> scales(groups);
  std::vector<std::byte> encoded_scales(numerics::scales_bytes(format, groups));
  std::vector<std::byte> payload(numerics::payload_bytes(format, values.size()));
  std::vector<float> decoded(values.size());
  codec.find_amax(values, 0, amax);
  codec.encode_scales(amax, encoded_scales);
  codec.decode_scales(encoded_scales, scales);
  codec.quantize(values, 0, scales, payload);
  codec.dequantize(payload, 0, scales, decoded);
  return decoded;
}

/// Runs a ring on one minishard of one shard.
class ScalarRing {
 public:
  /// `inputs`: the minishard on each rank.
  ScalarRing(const collectives::RingOptions& options, std::vector<std::vector<float>> inputs)
      : options_(options),
        inputs_(std::move(inputs)),
        ranks_(static_cast<std::uint32_t>(inputs_.size())) {}

  /// Result of a minishard summed by `owner` on every rank, before rounding to the tensor's type.
  std::vector<float> all_reduce(std::uint32_t owner, std::uint32_t segment) const {
    return through_wire(options_.all_gather, reduce(owner, segment));
  }

  /// The sum itself.
  std::vector<float> reduce(std::uint32_t owner, std::uint32_t segment) const {
    const auto steps = collectives::ring_steps(ranks_, options_.style);
    std::vector<float> sum = inputs_[owner];
    const bool semi_loop = options_.style == collectives::RingStyle::semi_loop;
    if (semi_loop || segment == 0) add(sum, arm(owner, steps[0], ranks_ - 1));
    if ((semi_loop || segment == 1) && steps[1] > 0) add(sum, arm(owner, steps[1], 1));
    return sum;
  }

 private:
  /// The partial sum that reaches the owner from the rank `steps` away, counted in strides of
  /// `stride` ranks around the ring, with the terms of all ranks on the way.
  std::vector<float> arm(std::uint32_t owner, std::uint32_t steps, std::uint32_t stride) const {
    std::vector<float> sum;
    for (std::uint32_t away = steps; away > 0; --away) {
      const std::vector<float>& own = inputs_[(owner + away * stride) % ranks_];
      if (away == steps) {
        sum = own;
      } else {
        std::vector<float> next = own;
        add(next, sum);
        sum = next;
      }
      sum = through_wire(options_.reduce_scatter, sum);
    }
    return sum;
  }

  /// Adds received values; a ring without scales keeps its sums in its format.
  void add(std::vector<float>& sum, const std::vector<float>& arrived) const {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + arrived[i];
    if (!options_.reduce_scatter.scaled) sum = through_wire(options_.reduce_scatter, sum);
  }

  const collectives::RingOptions& options_;
  std::vector<std::vector<float>> inputs_;
  std::uint32_t ranks_;
};

/// Concatenates `of_segment` over all segments, as a tensor of the source's size and type.
template <typename OfSegment>
std::vector<float> whole_tensor(const collectives::Partition& partition,
                                const values::TensorSource& source, OfSegment of_segment) {
  std::vector<float> result;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    const std::vector<float> part = of_segment(segment);
    result.insert(result.end(), part.begin(), part.end());
  }
  result.resize(source.elements());
  values::round_to_tensor(source.format(), result);
  return result;
}

/// Inputs of every rank for a segment.
inline std::vector<std::vector<float>> inputs_of_segment(const collectives::Partition& partition,
                                                         const values::TensorSource& source,
                                                         std::uint32_t segment) {
  std::vector<std::vector<float>> held(partition.grid().ranks(),
                                       std::vector<float>(partition.segment_elements(segment)));
  for (std::uint32_t rank = 0; rank < held.size(); ++rank)
    source.read(rank, partition.segment_begin(segment), held[rank]);
  return held;
}

/// The result of the whole collective, in the tensor's type.
inline std::vector<float> scalar_ring_all_reduce(const values::TensorSource& source,
                                                 std::uint32_t ranks,
                                                 const collectives::RingOptions& options) {
  const std::uint32_t segments = collectives::ring_segments(options.style);
  const std::uint32_t minishards = options.cut.minishards.value();
  const collectives::Partition partition = ring_partition(
      source.elements(), ranks, segments, minishards, options.cut.microshards.value());
  std::vector<float> result(std::size_t{ranks} * segments * partition.chunk_elements(0));
  for (std::uint32_t shard = 0; shard < ranks; ++shard)
    for (std::uint32_t segment = 0; segment < segments; ++segment)
      for (std::uint32_t minishard = 0; minishard < minishards; ++minishard) {
        const collectives::Range range = partition.minishard({.minishard = minishard});
        const std::uint64_t first = partition.segment_begin(segment) +
                                    partition.chunk_begin(segment, 0, shard) + range.begin;
        std::vector<std::vector<float>> inputs(ranks, std::vector<float>(range.size()));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) source.read(rank, first, inputs[rank]);
        const auto values = ScalarRing(options, std::move(inputs)).all_reduce(shard, segment);
        for (std::size_t i = 0; i < values.size(); ++i) result[first + i] = values[i];
      }
  result.resize(source.elements());
  values::round_to_tensor(source.format(), result);
  return result;
}

}  // namespace equarx::testing
