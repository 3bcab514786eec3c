// Collectives in which ranks send to each other directly, near or far, instead of passing on along a ring.
#pragma once

#include <cstdint>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// How an exchange, in which every rank sends to many others, is done.
struct ExchangeOptions {
  /// Formats on the wire. Sums are formed in FP32 whatever they are, and encoded anew for each message.
  numerics::BlockFormat reduce_scatter;
  numerics::BlockFormat all_gather;
  CutRule cut;
};

/// The format that decides how chunks are cut: that of the phase that has scales, if one has.
const numerics::BlockFormat& cut_format(Collective collective, const ExchangeOptions& options);

/// The rule for exchanges whose rounds overlap each other already: chunks are sent in one piece unless it says
/// otherwise.
CutRule in_one_piece(CutRule rule);

/// Direct exchange in rounds: in round k every rank sends to the rank k places on.
///  - all_reduce ("two-shot"): every rank sends each other rank its shard, sums what it gets of its own
///    shard, and sends the sum to all others;
///  - reduce_scatter, all_gather: one half of it;
///  - all_to_all: every rank sends each other rank its shard, and that is all.
/// Two-shot quantizes every term once and every sum once.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_direct_exchange(Collective collective, std::uint32_t ranks, std::uint64_t elements,
                             numerics::ElementFormat tensor_format, const ExchangeOptions& options);

/// "One-shot" AllReduce: every rank sends its whole tensor to all others, and sums what it gets and
/// its own, all as encoded in `reduce_scatter`, by rank: so all ranks end bit-identical.
Program make_one_shot_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                 numerics::ElementFormat tensor_format,
                                 const ExchangeOptions& options);

/// AllReduce by recursive doubling: for each axis of `grid`, all of length 2, partners exchange their
/// whole sums, as encoded in `reduce_scatter`, and add both.
/// @throws std::invalid_argument if an axis is longer.
Program make_recursive_doubling(const RankGrid& grid, std::uint64_t elements,
                                numerics::ElementFormat tensor_format,
                                const ExchangeOptions& options);

}  // namespace equarx::collectives
