// Collectives of slices (or nodes) that a network joins: within each slice, and between slices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// The axis of their rank grids along which slices lie; the others lie within a slice.
inline constexpr std::size_t kSliceAxis = 0;

/// The rank grid within one slice. @throws std::invalid_argument if `grid` has no axis within
RankGrid within_slice(const RankGrid& grid);

// An AllReduce is four phases, each a level of its own, one after the other:
//   1. a ReduceScatter within every slice: each rank then has the slice's sum of its chunk;
//   2. a ReduceScatter of each chunk, between the ranks that have it, one of every slice: direct exchange;
//   3. an AllGather between them;
//   4. an AllGather within every slice.
// So 1 / (ranks of a slice) of a tensor crosses the network. A ReduceScatter is 1 and 2, an AllGather 3 and 4. Sums are
// FP32 from the first phase to the last, but in a plain ring, which leaves its sums in the wire's type; and what is
// gathered in 3 is encoded anew in 4, by every slice alike.

/// Within slices along rings on all axes, as make_ring_program() does it; `within.folded` is of the axes within.
/// @throws std::invalid_argument if there are more parts than elements, or an axis is missing
Program make_hierarchical_rings(const RankGrid& grid, std::uint64_t elements,
                                numerics::ElementFormat tensor_format, const RingOptions& within,
                                const ExchangeOptions& between);

/// Within slices by direct exchange too. `grid` has one axis within. `codes_own`: a rank's own terms go through the codec
/// of either level, too, and terms are added by rank (ExchangeLevel): the qgZ of ZeRO++ and the gradients of SDP4Bit.
/// @throws std::invalid_argument likewise
Program make_hierarchical_exchange(Collective collective, const RankGrid& grid,
                                   std::uint64_t elements, numerics::ElementFormat tensor_format,
                                   const ExchangeOptions& within, const ExchangeOptions& between,
                                   bool codes_own = false);

}  // namespace equarx::collectives
