// Broadcast from rank 0.
#pragma once

#include <cstdint>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// Options of a broadcast.
struct BroadcastOptions {
  RingStyle style = RingStyle::full_loop;
  numerics::BlockFormat format;  ///< on the wire; encoded once, by rank 0
  CutRule cut;
};

/// Broadcast along a ring; each rank forwards microshard by microshard. full_loop: half of the
/// tensor in each direction; semi_loop: the whole tensor in both directions, which meet half way.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_ring_broadcast(std::uint32_t ranks, std::uint64_t elements,
                            numerics::ElementFormat tensor_format, const BroadcastOptions& options);

/// Broadcast from rank 0 directly to every other rank; `style` is ignored.
Program make_direct_broadcast(std::uint32_t ranks, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const BroadcastOptions& options);

}  // namespace equarx::collectives
