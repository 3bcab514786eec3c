// The AllGather of one segment, axis by axis, in reverse order.
#pragma once

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// Forwards the owner's encoded bytes verbatim, so that all ranks decode the same. After a
/// ReduceScatter in the same strand, its first step sums the last arrivals.
void write_all_gather(RingStrand& strand);

}  // namespace equarx::collectives
