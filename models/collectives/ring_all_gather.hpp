// The AllGather of one segment, along one axis after the other, in the opposite order.
#pragma once

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// The owner's encoded bytes travel verbatim, so that all ranks decode the same. After a ReduceScatter
/// in the same strand its first step sums the last arrivals.
void write_all_gather(RingStrand& strand);

}  // namespace equarx::collectives
