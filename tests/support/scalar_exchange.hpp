// The oracle for direct exchanges, recursive doubling and broadcasts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"
#include "models/values/tensor_source.hpp"
#include "tests/support/scalar_ring.hpp"

namespace equarx::testing {

/// Values after encoding and decoding: minishards of `pieces` equal pieces, each encoded
/// separately.
inline std::vector<float> pieces_through_wire(const numerics::BlockFormat& format,
                                              std::uint64_t pieces, std::uint32_t minishards,
                                              const std::vector<float>& values) {
  std::vector<float> decoded;
  const std::uint64_t size = values.size() / pieces;
  for (std::uint64_t piece = 0; piece < pieces; ++piece)
    for (std::uint32_t i = 0; i < minishards; ++i) {
      const collectives::Range range =
          collectives::split({piece * size, (piece + 1) * size}, minishards, i);
      const auto first = values.begin();
      const std::vector<float> part =
          through_wire(format, {first + static_cast<std::ptrdiff_t>(range.begin),
                                first + static_cast<std::ptrdiff_t>(range.end)});
      decoded.insert(decoded.end(), part.begin(), part.end());
    }
  return decoded;
}

/// The ranks' tensors, padded to `pieces` equal pieces.
inline std::vector<std::vector<float>> padded_inputs(const values::TensorSource& source,
                                                     std::uint32_t ranks, std::uint64_t pieces) {
  const std::uint64_t size = (source.elements() + pieces - 1) / pieces * pieces;
  std::vector<std::vector<float>> inputs(ranks, std::vector<float>(size));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) source.read(rank, 0, inputs[rank]);
  return inputs;
}

inline std::vector<float> as_tensor(const values::TensorSource& source, std::vector<float> values) {
  values.resize(source.elements());
  values::round_to_tensor(source.format(), values);
  return values;
}

struct Wire {
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  std::uint32_t minishards;
};

/// Every owner's sum: the others' terms, nearest sender first, and its own, before the AllGather.
inline std::vector<float> scalar_direct_sums(const values::TensorSource& source,
                                             std::uint32_t ranks, const Wire& wire) {
  const auto inputs = padded_inputs(source, ranks, ranks);
  std::vector<std::vector<float>> sent;
  for (const auto& input : inputs)
    sent.push_back(pieces_through_wire(wire.reduce_scatter, ranks, wire.minishards, input));
  std::vector<float> sums(inputs.front().size());
  const std::size_t shard = sums.size() / ranks;
  for (std::uint32_t owner = 0; owner < ranks; ++owner)
    for (std::size_t i = owner * shard; i < (owner + 1) * shard; ++i) {
      sums[i] = inputs[owner][i];
      for (std::uint32_t away = 1; away < ranks; ++away)
        sums[i] = sums[i] + sent[(owner + ranks - away) % ranks][i];
    }
  return sums;
}

inline std::vector<float> scalar_two_shot(const values::TensorSource& source, std::uint32_t ranks,
                                          const Wire& wire) {
  return as_tensor(source, pieces_through_wire(wire.all_gather, ranks, wire.minishards,
                                               scalar_direct_sums(source, ranks, wire)));
}

/// Each rank's own shard of its tensor.
inline std::vector<float> scalar_direct_gather(const values::TensorSource& source,
                                               std::uint32_t ranks, const Wire& wire) {
  const auto inputs = padded_inputs(source, ranks, ranks);
  std::vector<float> shards(inputs.front().size());
  const std::size_t shard = shards.size() / ranks;
  for (std::size_t i = 0; i < shards.size(); ++i) shards[i] = inputs[i / shard][i];
  return as_tensor(source, pieces_through_wire(wire.all_gather, ranks, wire.minishards, shards));
}

/// All data of every sender, one tensor after the other. The own shard does not travel.
inline std::vector<float> scalar_all_to_all(const values::TensorSource& source, std::uint32_t ranks,
                                            const Wire& wire) {
  std::vector<float> all;
  const auto inputs = padded_inputs(source, ranks, ranks);
  const std::size_t shard = inputs.front().size() / ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto moved = pieces_through_wire(wire.reduce_scatter, ranks, wire.minishards, inputs[rank]);
    for (std::size_t i = rank * shard; i < (rank + 1) * shard; ++i) moved[i] = inputs[rank][i];
    const auto sent = as_tensor(source, moved);
    all.insert(all.end(), sent.begin(), sent.end());
  }
  return all;
}

inline std::vector<float> scalar_one_shot(const values::TensorSource& source, std::uint32_t ranks,
                                          const Wire& wire) {
  std::vector<float> sum(source.elements());
  for (const auto& input : padded_inputs(source, ranks, 1)) {
    const auto sent = pieces_through_wire(wire.reduce_scatter, 1, wire.minishards, input);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + sent[i];
  }
  return as_tensor(source, sum);
}

/// Partners are ranks whose numbers differ in one bit, the highest first.
inline std::vector<float> scalar_recursive_doubling(const values::TensorSource& source,
                                                    std::uint32_t ranks, const Wire& wire,
                                                    std::uint32_t rank = 0) {
  auto sums = padded_inputs(source, ranks, 1);
  for (std::uint32_t bit = ranks / 2; bit > 0; bit /= 2) {
    auto sent = sums;
    for (auto& each : sent)
      each = pieces_through_wire(wire.reduce_scatter, 1, wire.minishards, each);
    for (std::uint32_t one = 0; one < ranks; ++one)
      for (std::size_t i = 0; i < sums[one].size(); ++i)
        sums[one][i] = sent[one & ~bit][i] + sent[one | bit][i];
  }
  return as_tensor(source, sums[rank]);
}

/// The root's tensor, in one segment or one per direction.
inline std::vector<float> scalar_broadcast(const values::TensorSource& source,
                                           std::uint32_t segments, const Wire& wire) {
  return as_tensor(source, pieces_through_wire(wire.all_gather, segments, wire.minishards,
                                               padded_inputs(source, 1, segments).front()));
}

}  // namespace equarx::testing
