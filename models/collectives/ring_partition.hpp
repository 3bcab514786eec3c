// How a collective on rings cuts its tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/collectives/ring_options.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {

/// One segment, or two in a full loop, for each tour, each cut along its axes into shards.
/// @throws std::invalid_argument if there are more parts than elements.
Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const std::vector<RingTour>& tours, const RingOptions& options);

/// The same for ring_tours(). @throws std::invalid_argument also if the order of axes does not name each of
/// them once.
Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const RingOptions& options);

}  // namespace equarx::collectives
