// AllReduce on a ring of ranks: ReduceScatter, then AllGather; plain, or quantized as EQuARX does
// (arXiv 2506.17615).
#pragma once

#include <array>
#include <cstdint>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// How the two directions of the ring share the work.
enum class RingStyle : std::uint8_t {
  full_loop,  ///< each carries half of every shard all the way round: ranks - 1 steps a phase
  semi_loop,  ///< they carry whole shards and meet: floor(ranks/2) and ceil(ranks/2) - 1 steps a
              ///< phase
};

std::string_view name(RingStyle style);

struct RingOptions {
  RingStyle style = RingStyle::full_loop;
  /// Formats on the wire. A phase whose format has scales is quantized: FP32 sums, encoded anew at
  /// every ReduceScatter hop, once in the AllGather. One without scales sums in its format.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  std::uint32_t minishards = 1;
  std::uint32_t microshards = 1;
};

/// Steps of one phase in each Direction.
std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t ranks, RingStyle style);

/// Segments that a shard is cut in: one for each independent direction.
std::uint32_t ring_segments(RingStyle style);

/// The program of a ring AllReduce of `elements` elements of `tensor_format` on each rank.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_ring_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                             numerics::ElementFormat tensor_format, const RingOptions& options);

}  // namespace equarx::collectives
