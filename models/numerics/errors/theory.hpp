// Closed forms for the error of quantized collectives (docs/numerics.md). Tests compare computed
// errors with them, and tuning uses them to rank candidates before computing values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace equarx::numerics {

/// Returns E[max_i x_i^2] for `elements` independent standard normal x_i: the mean squared amax of
/// a scale group in units of its variance. Numerical integration with a relative error below 1e-9.
/// Throws std::invalid_argument if elements == 0.
double expected_squared_amax(std::uint64_t elements);

/// Returns c, the squared error of a single quantization over the signal power, for a symmetric
/// uniform quantizer with codes -largest_code..largest_code and amax scales of groups of `elements`
/// normal values:
///   E[amax^2] / (12 largest_code^2) x (elements - 1) / elements.
/// The step is amax / largest_code, and the error is uniform with variance step^2 / 12, except for
/// the amax element, which is exact. Scales are assumed exact. `largest_code` is kInt8LargestCode
/// or another such constant of models/formats. Throws std::invalid_argument if elements == 0.
double uniform_quantizer_nmse(std::uint64_t elements, double largest_code);

/// Equivalent messages of a ReduceScatter: each is the sum of `summed` ranks and is quantized once,
/// on its edge of the reduction tree.
struct Edge {
  std::uint32_t summed = 1;  ///< ranks summed in each message
  std::uint32_t count = 1;   ///< number of such messages per shard
  std::uint32_t stage = 0;   ///< index of the torus axis, in the order of reduction

  bool operator==(const Edge&) const = default;
};

/// All messages of a ReduceScatter, or of an AllReduce without a gather phase. An arm is a chain of
/// edges along which a message grows; a new arm starts where `summed` does not increase.
using Edges = std::vector<Edge>;

/// Full-loop ring: messages of 1, 2, ... ranks - 1 ranks.
/// Throws std::invalid_argument if ranks == 0.
Edges full_loop_edges(std::uint32_t ranks);

/// Semi-loop ring: arms of floor(ranks / 2) and ceil(ranks / 2) - 1 steps that meet at the owner.
/// Throws std::invalid_argument if ranks == 0.
Edges semi_loop_edges(std::uint32_t ranks);

/// Function that returns the edges of a ring of a number of ranks, such as full_loop_edges.
using RingEdges = Edges (*)(std::uint32_t);

/// ReduceScatter along one torus axis (stage) after the other. An edge of a stage counts once for
/// each rank that its sums are later combined with along the remaining axes. For full loops, the
/// sum of `summed` over all messages is ranks x the sum over axes of (length - 1) / 2. Axes of
/// length 2 give recursive halving. Throws std::invalid_argument if any length is 0.
Edges torus_edges(std::span<const std::uint32_t> lengths, RingEdges ring = full_loop_edges);

/// Direct exchange: one term from each other rank. Two-shot's factor is (ranks - 1) / ranks + 1.
/// Throws std::invalid_argument if ranks == 0.
Edges direct_edges(std::uint32_t ranks);

/// One-shot, which encodes a rank's own term as well and has no gather phase: its factor is 1.
/// Throws std::invalid_argument if ranks == 0.
Edges one_shot_edges(std::uint32_t ranks);

/// Recursive doubling, which has no gather phase: round k encodes ranks / 2^(k-1) different sums of
/// 2^(k-1) ranks, each counted once although several ranks hold it. Every round thus adds ranks /
/// ranks = 1 to the factor, which is log2(ranks). Throws std::invalid_argument unless `ranks` is a
/// power of two.
Edges recursive_doubling_edges(std::uint32_t ranks);

/// c of every quantization: squared error of a single quantization over the power of its input.
struct QuantizerNmse {
  /// The same c everywhere.
  QuantizerNmse(
      double everywhere)  // NOLINT(google-explicit-constructor): one number is the usual case
      : edge([everywhere](const Edge&) { return everywhere; }), gather(everywhere) {}
  QuantizerNmse(std::function<double(const Edge&)> of_edge, double of_gather)
      : edge(std::move(of_edge)), gather(of_gather) {}

  std::function<double(const Edge&)> edge;  ///< messages of the ReduceScatter
  double gather;                            ///< sums sent by the AllGather
};

/// Returns the NMSE of a quantized AllReduce of independent zero-mean ranks of equal power. To
/// first order in c it is
///   (1 / ranks) x sum over messages of c x summed, + c if the AllGather is quantized,
/// as each quantization adds c times the power of its message. Beyond that, the error accumulated
/// in a message adds to its power on each further edge of its arm, which matters for few bits and
/// many ranks (int4, 64 ranks: 1.5x). `edges` is empty if the ReduceScatter is not quantized.
/// Throws std::invalid_argument if ranks == 0.
double compounded_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                 std::span<const Edge> edges, bool gather_quantized);

/// Like compounded_allreduce_nmse() to first order, but with the loss per quantization of a sum
/// limited to the power of one rank: if steps far exceed the term that a rank adds, a hop loses
/// that term and nothing else. A lower bound of computed errors, up to sampling.
double saturated_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                std::span<const Edge> edges, bool gather_quantized);

}  // namespace equarx::numerics
