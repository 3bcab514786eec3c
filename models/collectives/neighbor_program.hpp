// Weighted means over the neighbours of every rank.
#pragma once

#include <cstdint>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/rank_graph.hpp"

namespace equarx::collectives {

/// Every rank encodes its tensor once and sends it to all neighbours, then adds to its own tensor,
/// times its weight, the decoded ones, each times its weight, in rising order of their ranks. Products
/// and sums are in FP32; the own tensor is not encoded.
/// @throws std::invalid_argument if there are more parts than elements
Program make_neighbor_average(const RankGraph& graph, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const ExchangeOptions& options);

}  // namespace equarx::collectives
