// Collectives whose sums and copies a switch makes: NVLink SHARP, NCCL's NVLS.
#pragma once

#include <cstdint>

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// Fewest ranks: of two, each would have one peer for terms and sums (NCCL takes rings there, too).
inline constexpr std::uint32_t kFewestRanksInSwitch = 3;

/// Bytes of the pieces of a tensor of `bytes` bytes, unless the rule gives microshards: as NCCL sends
/// them, a chunk of each of 16 channels to each of `ranks` owners (src/transport/nvls.cc). Chunks have
/// 128 KiB, and less if the tensor has few: 64, 32 or 16 KiB below 64, 8 or 2 pieces (getChunkSize()
/// in src/enqueue.cc).
std::uint64_t switch_piece_bytes(std::uint32_t ranks, std::uint64_t bytes);

/// AllReduce. Every rank owns 1/N of each piece. Owners load sums through the switch, which fetches
/// the terms of all ranks (multimem.ld_reduce), and store them through it to all ranks (multimem.st).
/// So a piece of S bytes occupies the port of every rank for S (1 + 1/N) bytes in each direction: all
/// of it as terms or sums, 1/N as the owner's part of the other direction. Sums are in FP32, in the
/// order of ranks, and rounded once, to the format of the AllGather.
///
/// @throws std::invalid_argument for fewer than kFewestRanksInSwitch ranks, or fewer elements than
///         pieces
Program make_in_switch_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                  numerics::ElementFormat tensor_format,
                                  const ExchangeOptions& options);

/// ReduceScatter: the first half. Every rank loads the sum of its shard through the switch, to which
/// all ports carry all S bytes of a piece; the answers, S/N bytes of each port's other direction,
/// take no time of their own.
/// @throws like make_in_switch_all_reduce()
Program make_in_switch_reduce_scatter(std::uint32_t ranks, std::uint64_t elements,
                                      numerics::ElementFormat tensor_format,
                                      const ExchangeOptions& options);

/// AllGather: the second half. Every rank stores its shard through the switch to all ranks, whose
/// ports receive all S bytes of a piece.
/// @throws like make_in_switch_all_reduce()
Program make_in_switch_all_gather(std::uint32_t ranks, std::uint64_t elements,
                                  numerics::ElementFormat tensor_format,
                                  const ExchangeOptions& options);

}  // namespace equarx::collectives
