// Timing all chips by a few that stand for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"

namespace equarx::sim {

/// A machine of few chips on which `program` takes as long as on a symmetric machine of any size: one
/// where every rank reaches each of its peers over a link of its own, and all these links are `link`.
///
/// On a symmetric machine all chips do the same at the same time. So a message may as well go to any
/// other chip, if only no two messages of one chip share a receiver or a link: a chip with n peers needs
/// n stand-ins for them. The machine has n + 1 chips, each linked to all others: a pod of 9,216 chips in
/// a 3-D torus, where a chip has six peers, is timed by seven.
///
/// HBMs that DMAs take of change nothing of that: a chip's is passed by what the chip sends to its n peers and
/// gets from n, here as there. add_hbm() gives them to the representatives.
Machine representative(const collectives::Program& program, const LinkSpec& link,
                       std::uint32_t dma_queue);

/// The same for several programs side by side. `peers`: for each channel of the machine, who it leads to: channels with
/// the same number lead to the same chip. Programs whose peers differ must use links of their own.
Machine representative(std::span<const std::uint64_t> peers, const LinkSpec& link,
                       std::uint32_t dma_queue);

/// Why representative() would not have the timing of `machine`, for people; empty if it has.
std::string asymmetry(const collectives::Program& program, const Machine& machine);

}  // namespace equarx::sim
