// Timing all chips by a few that stand for them.
#pragma once

#include <cstdint>
#include <string>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"

namespace equarx::sim {

/// A machine of few chips on which `program` has the timing that it has on one of any size where every
/// rank's channel to each peer is a link `link` of its own. There all chips do the same at the same
/// time; so any chips do in which every message goes to another chip that does what its real receiver
/// does, over a link of its own. With n different peers that is a machine of n + 1 chips, each linked to
/// all others: a pod of 9,216 chips in a 3-D torus is timed by seven.
Machine representative(const collectives::Program& program, const LinkSpec& link,
                       std::uint32_t dma_queue);

/// Why representative() would not have the timing of `machine`, for people; empty if it has.
std::string asymmetry(const collectives::Program& program, const Machine& machine);

}  // namespace equarx::sim
