// Rings through all chips of several nodes: NCCL's Ring across a network.
#pragma once

#include <cstdint>

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// As many rings as a node has chips, each through all chips of a node, and then of the next one.
/// Ring c enters every node at its chip c, and leaves it at the chip before, so that every chip sends
/// to another node in one ring and receives in one, over a port of its own. A ring carries the same
/// part of every shard, in steps as in a ring of one direction: ranks - 1 of them in each phase. Sums
/// are in the wire format. A rank has a stream for each ring (Instruction::stream).
///
/// @param grid  nodes x chips of a node
/// @throws std::invalid_argument for formats with scales, or fewer elements than parts
Program make_node_rings(Collective collective, const RankGrid& grid, std::uint64_t elements,
                        numerics::ElementFormat tensor_format, const ExchangeOptions& options);

}  // namespace equarx::collectives
