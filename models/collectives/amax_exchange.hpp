// How all ranks of a collective come to know the largest magnitude in any of their tensors.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Appends an AllReduce (MAX) of the ranks' amax, 4 bytes in FP32, over the channels that `program` has: straight to
/// all others where there are channels to all; else from neighbour to neighbour along one axis after the other, both ways
/// round where both have channels. Every rank has found its own by then.
/// @throws std::logic_error if there is no way along an axis
void append_amax_exchange(Program& program);

}  // namespace equarx::collectives
