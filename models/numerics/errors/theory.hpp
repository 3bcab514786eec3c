// Closed forms for the error of quantized collectives: what computed values are tested against, and what
// candidates are judged by before values are computed (docs/numerics.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace equarx::numerics {

/// E[max_i x_i^2] of `elements` independent standard normal x_i: the mean squared amax of a
/// scale group, in units of its variance. By numerical integration, relative error below 1e-9.
/// elements >= 1, else std::invalid_argument.
double expected_squared_amax(std::uint64_t elements);

/// c: squared error of quantizing once, over signal power, of a symmetric uniform quantizer with
/// codes -largest_code..largest_code and amax scales over groups of `elements` normal values:
///   E[amax^2] / (12 largest_code^2) x (elements - 1) / elements.
/// The step is amax / largest_code and its error uniform, of variance step^2 / 12, except for the
/// amax element, which has none. Scales are taken as exact. `largest_code` is kInt8LargestCode and its like
/// of models/formats.
double uniform_quantizer_nmse(std::uint64_t elements, double largest_code);

/// As uniform_quantizer_nmse, of mxint8: the step is 2^floor(log2(amax)) / 64, and its error uniform
/// for the amax element too:
///   E[4^floor(log2(deviation x amax))] / (12 x 64^2 x deviation^2).
/// It depends on the standard deviation of the values, periodically in its binary logarithm. The few
/// elements that clip, by at most one step, are neglected.
double mxint8_quantizer_nmse(std::uint64_t elements, double deviation);

/// Messages of a ReduceScatter that are alike: each is the sum of as many ranks, and is quantized once,
/// on its edge of the tree along which sums are formed.
struct Edge {
  std::uint32_t summed = 1;  ///< ranks already summed in each message
  std::uint32_t count = 1;   ///< how many such messages there are, for each shard
  std::uint32_t stage = 0;   ///< of the axes of a torus, in the order in which they are taken

  bool operator==(const Edge&) const = default;
};

/// All messages of a ReduceScatter, or of an AllReduce that gathers nothing. An arm is a chain of edges
/// along which a message grows; one starts where `summed` does not grow.
using Edges = std::vector<Edge>;

/// A full-loop ring of `ranks` chips: messages of 1, 2, ... ranks - 1 ranks.
/// ranks >= 1, else std::invalid_argument.
Edges full_loop_edges(std::uint32_t ranks);

/// A semi-loop ring: arms of floor(ranks / 2) and ceil(ranks / 2) - 1 steps that meet at the owner.
/// ranks >= 1, else std::invalid_argument.
Edges semi_loop_edges(std::uint32_t ranks);

/// Edges of one ring of a number of ranks, such as full_loop_edges.
using RingEdges = Edges (*)(std::uint32_t);

/// A ReduceScatter along one axis of a torus after the other, each a stage: an edge of a stage counts
/// once for each of the ranks that its sums are later summed with along the other axes. The sum of
/// `summed` over the messages, full-loop, is ranks x the sum over axes of (length - 1) / 2. Axes of
/// length 2 make it recursive halving. Every length >= 1, else std::invalid_argument.
Edges torus_edges(std::span<const std::uint32_t> lengths, RingEdges ring = full_loop_edges);

/// A direct exchange: one term of each other rank. Two-shot's factor is (ranks - 1) / ranks + 1.
/// ranks >= 1, else std::invalid_argument.
Edges direct_edges(std::uint32_t ranks);

/// One-shot, which encodes a rank's own term too, and gathers nothing: its factor is 1.
/// ranks >= 1, else std::invalid_argument.
Edges one_shot_edges(std::uint32_t ranks);

/// Recursive doubling, which gathers nothing: round k encodes the ranks / 2^(k-1) different sums of
/// 2^(k-1) ranks that there are, each once, though several ranks have it. So every round adds
/// ranks / ranks = 1 to the factor, which is log2(ranks).
/// ranks a power of two, else std::invalid_argument.
Edges recursive_doubling_edges(std::uint32_t ranks);

/// c of everything that is quantized: the squared error of quantizing once, over the power of what is
/// quantized.
struct QuantizerNmse {
  /// The same everywhere.
  QuantizerNmse(
      double everywhere)  // NOLINT(google-explicit-constructor): one number is the usual case
      : edge([everywhere](const Edge&) { return everywhere; }), gather(everywhere) {}
  QuantizerNmse(std::function<double(const Edge&)> of_edge, double of_gather)
      : edge(std::move(of_edge)), gather(of_gather) {}

  std::function<double(const Edge&)> edge;  ///< of the messages of a ReduceScatter
  double gather;                            ///< of the sums that the AllGather carries
};

/// NMSE of a quantized AllReduce of independent zero-mean ranks of equal power:
///   (1 / ranks) x sum over messages of c x summed, + c if the AllGather is quantized.
/// Each quantization adds c times the power of the message it acts on. `edges` is empty if the
/// ReduceScatter is not quantized. ranks >= 1, else std::invalid_argument; so for the next two.
double allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                      std::span<const Edge> edges, bool gather_quantized);

/// As allreduce_nmse, with what it leaves out: the error that a message has gathered is power too, and
/// is quantized with it on each further edge of its arm. The same to first order in c; needed for few
/// bits and many ranks (int4, 64 ranks: about half as much again).
double compounded_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                 std::span<const Edge> edges, bool gather_quantized);

/// As allreduce_nmse, where a quantization of sums loses no more than the power of one rank: where steps
/// are far above what a rank adds, a hop loses that and nothing else. Lower than what is computed, but
/// for sampling.
double saturated_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                std::span<const Edge> edges, bool gather_quantized);

}  // namespace equarx::numerics
