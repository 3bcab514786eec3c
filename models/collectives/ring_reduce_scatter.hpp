// The ReduceScatter of one segment, axis by axis.
#pragma once

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// Writes the ReduceScatter. A chunk starts `steps` hops before its owner and collects a term at
/// every hop. The last arrivals of the last stage are summed here, into the result, if no AllGather
/// follows; else in the AllGather's first step.
void write_reduce_scatter(RingStrand& strand);

}  // namespace equarx::collectives
