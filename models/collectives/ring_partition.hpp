// Partition of the tensor of a collective on rings.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/collectives/ring_options.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {

/// One segment per tour (two in a full loop), each cut along its axes into shards.
/// @throws std::invalid_argument if there are more parts than elements.
Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const std::vector<RingTour>& tours, const RingOptions& options);

/// Returns the elements of one segment of each tour.
std::vector<double> elements_of_tours(const Partition& partition, RingStyle style);

/// make_ring_partition() for ring_tours(). @throws std::invalid_argument also if the order of axes
/// is not a permutation of them
Partition make_ring_partition(const RankGrid& grid, std::uint64_t elements,
                              const RingOptions& options);

}  // namespace equarx::collectives
