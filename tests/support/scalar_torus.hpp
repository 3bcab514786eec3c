// The oracle for collectives on several axes: one axis after the other, whole shards at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/collectives/ring_program.hpp"
#include "models/values/tensor_source.hpp"
#include "tests/support/scalar_ring.hpp"

namespace equarx::testing {

/// A ReduceScatter, AllGather or AllReduce along every axis of a grid of ranks in turn.
class ScalarTorus {
 public:
  /// `partition`: of the tensor, with the order of axes of each segment.
  ScalarTorus(const collectives::RingOptions& options, const collectives::Partition& partition,
              const values::TensorSource& source)
      : options_(options), partition_(partition), grid_(partition.grid()), source_(source) {}

  /// Result on all ranks; for a ReduceScatter, each rank's own part of it.
  std::vector<float> result() const {
    return whole_tensor(partition_, source_,
                        [&](std::uint32_t segment) { return of_segment(segment); });
  }

 private:
  using Held = std::vector<std::vector<float>>;  // by rank

  std::vector<float> of_segment(std::uint32_t segment) const {
    Held held = inputs_of_segment(partition_, source_, segment);
    std::vector<float> result(partition_.segment_elements(segment));
    const std::uint64_t shard = partition_.chunk_elements(segment);
    if (options_.collective == collectives::Collective::all_gather) {
      for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
        const auto own = held[rank].begin() + begin_of(segment, rank);
        held[rank] = std::vector<float>(own, own + static_cast<std::ptrdiff_t>(shard));
      }
    } else {
      const auto& axes = partition_.segment(segment).axes;
      for (std::size_t stage = 0; stage < axes.size(); ++stage)
        held = reduce_scatter(held, segment, stage);
    }
    for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
      const std::vector<float> own = options_.collective == collectives::Collective::reduce_scatter
                                         ? held[rank]
                                         : gathered(segment, held[rank]);
      std::copy(own.begin(), own.end(), result.begin() + begin_of(segment, rank));
    }
    return result;
  }

  std::ptrdiff_t begin_of(std::uint32_t segment, std::uint32_t rank) const {
    return static_cast<std::ptrdiff_t>(partition_.chunk_begin(segment, 0, rank));
  }

  /// Every rank keeps its own part of the held values along the axis, summed over its neighbours
  /// along the axis.
  Held reduce_scatter(const Held& held, std::uint32_t segment, std::size_t stage) const {
    const auto& axes = partition_.segment(segment).axes;
    const std::uint32_t length = grid_.length(axes[stage]);
    const auto uncut = static_cast<std::uint32_t>(axes.size() - 1 - stage);
    const std::size_t part = held.front().size() / length;
    const bool backward = options_.style == collectives::RingStyle::full_loop && segment % 2 == 1;
    Held sums(grid_.ranks(), std::vector<float>(part));
    for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
      const std::uint32_t place = grid_.coordinate(rank, axes[stage]);
      for (std::uint32_t i = 0; i < partition_.cut(segment, uncut).minishards; ++i) {
        const collectives::Range range = partition_.minishard({0, segment, uncut, i, 0});
        std::vector<std::vector<float>> inputs;
        for (std::uint32_t at = 0; at < length; ++at) {
          const std::uint32_t neighbour =
              grid_.move(rank, grid_.along(axes[stage], at + length - place));
          const auto from =
              held[neighbour].begin() + static_cast<std::ptrdiff_t>(place * part + range.begin);
          inputs.emplace_back(from, from + static_cast<std::ptrdiff_t>(range.size()));
        }
        const std::vector<float> sum =
            ScalarRing(options_, std::move(inputs)).reduce(place, backward ? 1 : 0);
        std::copy(sum.begin(), sum.end(),
                  sums[rank].begin() + static_cast<std::ptrdiff_t>(range.begin));
      }
    }
    return sums;
  }

  /// A shard as decoded by all ranks.
  std::vector<float> gathered(std::uint32_t segment, const std::vector<float>& shard) const {
    std::vector<float> decoded;
    for (std::uint32_t i = 0; i < partition_.cut(segment).minishards; ++i) {
      const collectives::Range range = partition_.minishard({0, segment, 0, i, 0});
      const std::vector<float> minishard(shard.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                         shard.begin() + static_cast<std::ptrdiff_t>(range.end));
      const std::vector<float> values = through_wire(options_.all_gather, minishard);
      decoded.insert(decoded.end(), values.begin(), values.end());
    }
    return decoded;
  }

  const collectives::RingOptions& options_;
  const collectives::Partition& partition_;
  const collectives::RankGrid& grid_;
  const values::TensorSource& source_;
};

}  // namespace equarx::testing
