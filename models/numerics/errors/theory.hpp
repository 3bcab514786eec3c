// Closed forms for the error of quantized collectives, to test computed values against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace equarx::numerics {

/// E[max_i x_i^2] of `elements` independent standard normal x_i: the mean squared abs-max of a
/// scale group, in units of its variance. By numerical integration, relative error below 1e-9.
/// elements >= 1, else std::invalid_argument.
double expected_squared_absmax(std::uint64_t elements);

/// c: squared error of quantizing once, over signal power, of a symmetric uniform quantizer with
/// codes -largest_code..largest_code and abs-max scales over groups of `elements` normal values:
///   E[absmax^2] / (12 largest_code^2) x (elements - 1) / elements.
/// The step is absmax / largest_code and its error uniform, of variance step^2 / 12, except for the
/// abs-max element, which has none. Scales are taken as exact. 127 for int8, 7 for int4.
double uniform_quantizer_nmse(std::uint64_t elements, double largest_code);

/// As uniform_quantizer_nmse, of mxint8: the step is 2^floor(log2(absmax)) / 64, and its error uniform
/// for the abs-max element too:
///   E[4^floor(log2(deviation x absmax))] / (12 x 64^2 x deviation^2).
/// It depends on the standard deviation of the values, periodically in its binary logarithm. The few
/// elements that clip, by at most one step, are neglected.
double mxint8_quantizer_nmse(std::uint64_t elements, double deviation);

/// Ranks already summed in the message on each edge of a ReduceScatter over `ranks` chips,
/// full-loop ring: 1, 2, ... ranks - 1. ranks >= 1, else std::invalid_argument.
std::vector<std::uint32_t> full_loop_messages(std::uint32_t ranks);

/// As full_loop_messages, of the semi-loop ring: arms of floor(ranks / 2) and ceil(ranks / 2) - 1
/// steps that meet at the owner.
std::vector<std::uint32_t> semi_loop_messages(std::uint32_t ranks);

/// Messages of one ring of a number of ranks, such as full_loop_messages.
using RingMessages = std::vector<std::uint32_t> (*)(std::uint32_t);

/// As full_loop_messages, of a ReduceScatter along one axis of a torus after the other: every message
/// of the axes before counts once for each of the ranks that it is later summed along the others with.
/// Their sum over all ranks, full-loop: sum over axes of (length - 1) / 2. Axes of length 2 make it
/// recursive halving. Every length >= 1, else std::invalid_argument.
std::vector<std::uint32_t> torus_messages(std::span<const std::uint32_t> lengths,
                                          RingMessages ring = full_loop_messages);

/// As full_loop_messages, of a direct exchange: one term of each other rank. One-shot, which encodes a
/// rank's own term too, and gathers nothing, has that of one rank more: its factor is 1, that of
/// two-shot (ranks - 1) / ranks + 1.
std::vector<std::uint32_t> direct_messages(std::uint32_t ranks);

/// As full_loop_messages, of recursive doubling, which gathers nothing: round k encodes the
/// ranks / 2^(k-1) different sums of 2^(k-1) ranks that there are, each once, though several ranks
/// have it. So every round adds ranks / ranks = 1 to the factor, which is log2(ranks).
/// ranks a power of two, else std::invalid_argument.
std::vector<std::uint32_t> recursive_doubling_messages(std::uint32_t ranks);

/// NMSE of a quantized AllReduce of independent zero-mean ranks of equal power:
///   c x [ (1 / ranks) x sum of ranks_in_message + g ],
/// ranks_in_message for each quantized edge of the ReduceScatter (empty if that is not quantized),
/// g = 1 if the AllGather is quantized. Each quantization adds c times the power of the message it
/// acts on.
double allreduce_nmse(double quantizer_nmse, std::uint32_t ranks,
                      std::span<const std::uint32_t> ranks_in_message, bool gather_quantized);

/// As allreduce_nmse, with what it leaves out: the error that a message has gathered is power too, and
/// is quantized with it on each further edge of its arm. The same to first order in c; needed for few
/// bits and many ranks (int4, 64 ranks: about half as much again). An arm starts where
/// ranks_in_message does not grow.
double compounded_allreduce_nmse(double quantizer_nmse, std::uint32_t ranks,
                                 std::span<const std::uint32_t> ranks_in_message,
                                 bool gather_quantized);

}  // namespace equarx::numerics
