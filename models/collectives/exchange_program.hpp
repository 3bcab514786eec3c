// Collectives in which ranks send directly to each other, near or far, instead of along a ring.
#pragma once

#include <cstdint>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Options of an exchange, in which every rank sends to many others.
struct ExchangeOptions {
  /// Wire formats. Sums are always FP32, re-encoded for each message.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  CutRule cut = {};
  /// Rows of tiles that a GPU's workgroups process (models/hardware/workgroups.hpp), and workgroups
  /// of a compute unit, which process different rows at once; 0: a single instruction stream.
  std::uint32_t rows = 0;
  std::uint32_t rows_at_once = 1;
  /// Two-shot: order of the terms of a sum. If not of arrival, own terms are encoded as well.
  SumOrder order = SumOrder::arrival;
  /// One partner at a time instead of several (ExchangeLevel::in_turn).
  bool in_turn = false;
};

/// Returns the format that determines the cut of chunks: the format of the phase with scales, if
/// any.
const numerics::BlockFormat& cut_format(Collective collective, const ExchangeOptions& options);

/// Returns the rule for exchanges whose rounds already overlap: one microshard per minishard,
/// unless the rule sets a number.
CutRule in_one_piece(CutRule rule);

/// Returns the streams of a program with this cut, each for the minishards of a workgroup.
std::uint32_t minishard_streams(const ExchangeOptions& options, const Cut& cut);

/// Direct exchange in rounds: in round k every rank sends to the rank k positions further along the only
/// axis of `grid` (DirectExchange).
///  - all_reduce ("two-shot"): every rank sends each other rank its shard, sums the terms received
///    for its own shard, and sends the sum to all others;
///  - reduce_scatter, all_gather: one half of it;
///  - all_to_all: every rank sends each other rank its shard, and keeps its own, unencoded.
/// Two-shot quantizes every term once and every sum once.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_direct_exchange(Collective collective, const RankGrid& grid, std::uint64_t elements,
                             numerics::ElementFormat tensor_format, const ExchangeOptions& options);
/// The same along one axis of `ranks` ranks.
inline Program make_direct_exchange(Collective collective, std::uint32_t ranks,
                                    std::uint64_t elements, numerics::ElementFormat tensor_format,
                                    const ExchangeOptions& options) {
  return make_direct_exchange(collective, RankGrid({ranks}), elements, tensor_format, options);
}

/// "One-shot" AllReduce: every rank sends its whole tensor to all others, and sums all tensors
/// including its own, all encoded in `reduce_scatter`, in the order of ranks: all ranks end with
/// the same bits.
Program make_one_shot_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                 numerics::ElementFormat tensor_format,
                                 const ExchangeOptions& options);

/// AllReduce by recursive doubling: for each axis of `grid`, all of length 2, partners exchange
/// their whole sums, encoded in `reduce_scatter`, and add both.
/// @throws std::invalid_argument if an axis is longer.
Program make_recursive_doubling(const RankGrid& grid, std::uint64_t elements,
                                numerics::ElementFormat tensor_format,
                                const ExchangeOptions& options);

}  // namespace equarx::collectives
