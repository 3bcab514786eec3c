// Broadcast from rank 0.
#pragma once

#include <cstdint>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// How a broadcast along a ring is done.
struct BroadcastOptions {
  RingStyle style = RingStyle::full_loop;
  numerics::BlockFormat format;  ///< on the wire; encoded once, by rank 0
  CutRule cut;
};

/// Along a ring, each rank passing on to the next one microshard by microshard. full_loop: half of the
/// tensor goes round in each direction; semi_loop: all of it in both, which meet half way.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_ring_broadcast(std::uint32_t ranks, std::uint64_t elements,
                            numerics::ElementFormat tensor_format, const BroadcastOptions& options);

/// From rank 0 to every other rank directly; `style` does not count.
Program make_direct_broadcast(std::uint32_t ranks, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const BroadcastOptions& options);

}  // namespace equarx::collectives
