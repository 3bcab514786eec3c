// The oracle for hierarchical AllReduces: level by level, whole chunks at a time, one slice after
// the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/collectives/hierarchical_program.hpp"
#include "models/values/tensor_source.hpp"
#include "tests/support/scalar_ring.hpp"

namespace equarx::testing {

/// An AllReduce within and between slices.
class ScalarHierarchy {
 public:
  /// `partition`: of the tensor. `within`: options of the rings, or only formats without rings.
  ScalarHierarchy(const collectives::RingOptions& within, bool rings,
                  const collectives::ExchangeOptions& between,
                  const collectives::Partition& partition, const values::TensorSource& source,
                  bool codes_own = false)
      : codes_own_(codes_own),
        within_(within),
        rings_(rings),
        between_(between),
        partition_(partition),
        grid_(partition.grid()),
        source_(source) {}

  std::vector<float> result() const {
    return whole_tensor(partition_, source_,
                        [&](std::uint32_t segment) { return of_segment(segment); });
  }

 private:
  using Held = std::vector<std::vector<float>>;  // by rank

  std::vector<float> of_segment(std::uint32_t segment) const {
    Held held = inputs_of_segment(partition_, source_, segment);
    const auto& axes = partition_.segment(segment).axes;
    for (std::size_t stage = 0; stage < axes.size(); ++stage)
      held = reduce_scatter(held, segment, stage);
    std::vector<float> result(partition_.segment_elements(segment));
    for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
      const std::vector<float> shard = through(between_.all_gather, segment, 0, held[rank]);
      std::copy(shard.begin(), shard.end(), result.begin() + begin_of(segment, 0, rank));
    }
    // Each chunk once, as all slices have the same ones.
    for (std::uint32_t rank = 0; rank < grid_.ranks() / grid_.length(0); ++rank) {
      const auto first = result.begin() + begin_of(segment, 1, rank);
      const auto size = static_cast<std::ptrdiff_t>(partition_.chunk_elements(segment, 1));
      const std::vector<float> chunk =
          through(within_.all_gather, segment, 1, {first, first + size});
      std::copy(chunk.begin(), chunk.end(), first);
    }
    return result;
  }

  std::ptrdiff_t begin_of(std::uint32_t segment, std::uint32_t uncut, std::uint32_t rank) const {
    return static_cast<std::ptrdiff_t>(partition_.chunk_begin(segment, uncut, rank));
  }

  /// Every rank keeps its own part of the held values along the axis, summed over all ranks that
  /// differ along the axis only.
  Held reduce_scatter(const Held& held, std::uint32_t segment, std::size_t stage) const {
    const auto& axes = partition_.segment(segment).axes;
    const std::size_t axis = axes[stage];
    const auto uncut = static_cast<std::uint32_t>(axes.size() - 1 - stage);
    const std::size_t part = held.front().size() / grid_.length(axis);
    Held sums(grid_.ranks());
    for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
      const std::uint32_t place = grid_.coordinate(rank, axis);
      Held terms;  // by coordinate along the axis
      for (std::uint32_t at = 0; at < grid_.length(axis); ++at) {
        const std::vector<float>& from =
            held[grid_.move(rank, grid_.along(axis, at + grid_.length(axis) - place))];
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(place * part);
        terms.emplace_back(first, first + static_cast<std::ptrdiff_t>(part));
      }
      const bool between = axis == collectives::kSliceAxis;
      sums[rank] = rings_ && !between ? ring_sum(terms, segment, uncut, place)
                                      : direct_sum(terms, segment, uncut, place);
    }
    return sums;
  }

  std::vector<float> ring_sum(const Held& terms, std::uint32_t segment, std::uint32_t uncut,
                              std::uint32_t place) const {
    const bool backward = within_.style == collectives::RingStyle::full_loop && segment % 2 == 1;
    std::vector<float> sums;
    for (std::uint32_t i = 0; i < partition_.cut(segment, uncut).minishards; ++i) {
      const collectives::Range range = partition_.minishard({0, segment, uncut, i, 0});
      Held inputs;
      for (const auto& term : terms) inputs.push_back(slice_of(term, range));
      const std::vector<float> sum =
          ScalarRing(within_, std::move(inputs)).reduce(place, backward ? 1 : 0);
      sums.insert(sums.end(), sum.begin(), sum.end());
    }
    return sums;
  }

  /// The own term unencoded, the others after encoding and decoding, nearest sender first.
  std::vector<float> direct_sum(const Held& terms, std::uint32_t segment, std::uint32_t uncut,
                                std::uint32_t place) const {
    const auto length = static_cast<std::uint32_t>(terms.size());
    const numerics::BlockFormat& format =
        uncut == 0 ? between_.reduce_scatter : within_.reduce_scatter;
    if (codes_own_) return sum_by_rank(format, terms, segment, uncut);
    std::vector<float> sum = terms[place];
    for (std::uint32_t away = 1; away < length; ++away) {
      const std::vector<float> sent =
          through(format, segment, uncut, terms[(place + length - away) % length]);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + sent[i];
    }
    return sum;
  }

  /// All terms after encoding and decoding, plain sums too.
  std::vector<float> sum_by_rank(const numerics::BlockFormat& format, const Held& terms,
                                 std::uint32_t segment, std::uint32_t uncut) const {
    std::vector<float> sum(terms.front().size());
    for (const auto& term : terms) {
      const std::vector<float> sent = through(format, segment, uncut, term);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + sent[i];
      if (!format.scaled) sum = through(format, segment, uncut, sum);
    }
    return sum;
  }

  static std::vector<float> slice_of(const std::vector<float>& values,
                                     const collectives::Range& range) {
    return {values.begin() + static_cast<std::ptrdiff_t>(range.begin),
            values.begin() + static_cast<std::ptrdiff_t>(range.end)};
  }

  /// A chunk as decoded by all ranks, minishard by minishard.
  std::vector<float> through(const numerics::BlockFormat& format, std::uint32_t segment,
                             std::uint32_t uncut, const std::vector<float>& chunk) const {
    std::vector<float> decoded;
    for (std::uint32_t i = 0; i < partition_.cut(segment, uncut).minishards; ++i) {
      const auto part =
          through_wire(format, slice_of(chunk, partition_.minishard({0, segment, uncut, i, 0})));
      decoded.insert(decoded.end(), part.begin(), part.end());
    }
    return decoded;
  }

  bool codes_own_;
  const collectives::RingOptions& within_;
  bool rings_;
  const collectives::ExchangeOptions& between_;
  const collectives::Partition& partition_;
  const collectives::RankGrid& grid_;
  const values::TensorSource& source_;
};

}  // namespace equarx::testing
