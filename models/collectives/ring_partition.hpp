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

/// Of one segment of each tour.
std::vector<double> elements_of_tours(const Partition& partition, RingStyle style);

/// make_ring_partition() for ring_tours(). @throws std::invalid_argument also if the order of axes does not name each of
/// them once.
Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const RingOptions& options);

}  // namespace equarx::collectives
