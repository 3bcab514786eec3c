// The ReduceScatter of one segment, along one axis after the other.
#pragma once

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// A chunk starts `steps` hops before its owner and collects a term at every hop. The last arrivals of
/// the last stage are summed here, into the result, if nothing is gathered after it; else they are left
/// to the AllGather's first step.
void write_reduce_scatter(RingStrand& strand);

}  // namespace equarx::collectives
