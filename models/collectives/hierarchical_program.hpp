// Collectives on slices (or nodes) connected by a network: within each slice, and between slices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// The axis of the rank grid across slices; the others lie within a slice.
inline constexpr std::size_t kSliceAxis = 0;
/// Axis of the chips of a slice, if they have one.
inline constexpr std::size_t kChipAxis = 1;

/// Returns the rank grid within one slice. @throws std::invalid_argument if `grid` has no axis
/// within slices
RankGrid within_slice(const RankGrid& grid);

// An AllReduce has four consecutive phases, each on one level:
//   1. a ReduceScatter within every slice: each rank gets the slice's sum of its chunk;
//   2. a ReduceScatter of each chunk among its owners in all slices: direct exchange;
//   3. an AllGather among them;
//   4. an AllGather within every slice.
// So 1 / (ranks of a slice) of a tensor crosses the network. A ReduceScatter is 1 and 2, an
// AllGather 3 and 4. Sums stay FP32 throughout, except in a plain ring, which leaves its sums in
// the wire's type. Data gathered in 3 is re-encoded in 4, identically by every slice.

/// Rings on all axes within slices, as in make_ring_program(); `within.folded` covers the axes
/// within slices.
/// @throws std::invalid_argument if there are more parts than elements, or an axis is missing
Program make_hierarchical_rings(const RankGrid& grid, std::uint64_t elements,
                                numerics::ElementFormat tensor_format, const RingOptions& within,
                                const ExchangeOptions& between);

/// Direct exchange within slices as well. `grid` has one axis within slices. `codes_own`: a rank's
/// own terms go through the codec on both levels too, and terms are added in the order of ranks
/// (ExchangeLevel): qgZ of ZeRO++ and the gradients of SDP4Bit.
/// @throws std::invalid_argument as above
Program make_hierarchical_exchange(Collective collective, const RankGrid& grid,
                                   std::uint64_t elements, numerics::ElementFormat tensor_format,
                                   const ExchangeOptions& within, const ExchangeOptions& between,
                                   bool codes_own = false);

}  // namespace equarx::collectives
