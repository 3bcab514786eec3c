// Exchange by which all ranks of a collective obtain the amax over all of their tensors.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Appends an AllReduce (MAX) of the ranks' amax, 4 bytes in FP32, over the existing channels of
/// `program`: directly to all others if there is a channel to each; else from neighbour to
/// neighbour along one axis after the other, in both directions if both have channels. Expects that
/// every rank has already computed its own.
/// @throws std::logic_error if an axis has no channel
void append_amax_exchange(Program& program);

}  // namespace equarx::collectives
