// Collectives on rings of ranks along every axis of a grid: a ReduceScatter axis by axis, then an
// AllGather in the opposite order (the bucket algorithm; Jain and Sabharwal, ICS 2010); plain, or
// quantized as EQuARX does on one ring (arXiv 2506.17615).
#pragma once

#include <cstdint>

#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// Returns the program for `elements` elements of `tensor_format`.
/// @throws std::invalid_argument if there are more parts than elements, or the order of axes is not
/// a permutation of them
Program make_ring_program(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const RingOptions& options);

}  // namespace equarx::collectives
