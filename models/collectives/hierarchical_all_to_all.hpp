// AllToAll between ranks of nodes or slices in two hops, over the network and within a node.
#pragma once

#include <cstdint>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// The axis along which shards move first.
enum class FirstHop : std::uint8_t {
  between,  ///< to the rank with the same place in the receiver's node, as DeepEP's normal dispatch
  within,  ///< to the rank of the own node with the receiver's place, as its combine, and NCCL's PXN
};

/// AllToAll on a grid of nodes x ranks of a node, in two hops. Forwarding ranks send
/// received bytes verbatim. The own shard stays unencoded. With RowCounts::first_rows, messages between
/// nodes have these rows only.
/// @throws std::invalid_argument if the grid has other than two axes, or more parts than elements
Program make_hierarchical_all_to_all(const RankGrid& grid, std::uint64_t elements,
                                     numerics::ElementFormat tensor_format,
                                     const ExchangeOptions& options, FirstHop first);

}  // namespace equarx::collectives
