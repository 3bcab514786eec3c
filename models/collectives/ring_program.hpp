// Collectives on rings of ranks along every axis of a grid: a ReduceScatter axis by axis, then an
// AllGather in the opposite order (the bucket algorithm; Jain and Sabharwal, ICS 2010); plain, or
// quantized as EQuARX does on one ring (arXiv 2506.17615).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/collectives/pipeline.hpp"
#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Neighbours on a ring.
enum class Direction : std::uint8_t {
  forward,   ///< to the next place
  backward,  ///< to the one before
};
inline constexpr std::size_t kDirections = 2;

std::string_view name(Direction direction);

/// How the two directions of a ring share the work.
enum class RingStyle : std::uint8_t {
  full_loop,  ///< each carries half of every shard all the way round: ranks - 1 steps a phase
  semi_loop,  ///< they carry whole shards and meet: floor(ranks/2) and ceil(ranks/2) - 1 steps a
              ///< phase
};

std::string_view name(RingStyle style);

/// How finely chunks are cut; what is not given is chosen chunk by chunk (pipeline.hpp).
struct CutRule {
  std::optional<std::uint32_t> minishards;
  std::optional<std::uint32_t> microshards;
  std::uint32_t elements_per_scale = kDefaultElementsPerScale;  ///< without `minishards`
};

struct RingOptions {
  RingStyle style = RingStyle::full_loop;
  /// Formats on the wire. A phase whose format has scales is quantized: FP32 sums, encoded anew at
  /// every ReduceScatter hop, once in the AllGather. One without scales sums in its format.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  CutRule cut;
  /// all_reduce, reduce_scatter or all_gather.
  Collective collective = Collective::all_reduce;
  /// The order in which the first segment takes the axes; all, as they are numbered, if empty.
  std::vector<std::size_t> axes{};
  /// Whether further segments take the axes in rotated order, so that all axes are busy at once.
  bool rotate_axes = true;
};

/// Steps of one phase along an axis of `length` places, in each Direction.
std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t length, RingStyle style);

/// Segments for each order of the axes: one for each independent direction.
std::uint32_t ring_segments(RingStyle style);

/// The program for `elements` elements of `tensor_format`.
/// @throws std::invalid_argument if there are more parts than elements, or the order of axes does not
/// name each of them once.
Program make_ring_program(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const RingOptions& options);

/// How a chunk is cut. `format` is that on the wire.
Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements);

}  // namespace equarx::collectives
