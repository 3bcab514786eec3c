// Exploiting symmetry: simulation of a few representative chips.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"

namespace equarx::sim {

/// Builds a small machine on which `program` takes as long as on a symmetric machine of any size,
/// i.e. one where every rank reaches each of its peers over an exclusive link, and all links equal
/// `link`.
///
/// On a symmetric machine all chips act identically and simultaneously. A message may therefore be
/// redirected to any other chip, provided that no two messages of one chip share a receiver or a
/// link: a chip with n peers needs n stand-ins. The machine has n + 1 fully connected chips: a pod
/// of 9,216 chips in a 3-D torus, with six peers per chip, is represented by seven.
///
/// This also holds with shared HBMs: on both machines, an HBM serves transfers to and from n peers.
/// Use add_hbm() to add them to the representative chips.
Machine representative(const collectives::Program& program, const LinkSpec& link,
                       std::uint32_t dma_queue);

/// Likewise for several concurrent programs. `peers`: by channel of the machine, an identifier of
/// its peer; channels with equal identifiers share a peer. Programs with different peers must use
/// disjoint links.
Machine representative(std::span<const std::uint64_t> peers, const LinkSpec& link,
                       std::uint32_t dma_queue);

/// Returns a reason why representative() does not reproduce the timing of `machine`; empty if it
/// does.
std::string asymmetry(const collectives::Program& program, const Machine& machine);

}  // namespace equarx::sim
