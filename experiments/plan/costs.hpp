// Cost model of a program's instructions on a chip.
#pragma once

#include "models/collectives/program.hpp"
#include "models/collectives/work.hpp"
#include "models/hardware/chip.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// False for instructions without work of their own: fused casts, and data sent from or received
/// in its place.
bool takes_time(const collectives::Program& program, const collectives::Instruction& instruction);

/// Compute time of every instruction and extra link time of every message. With wire buffers in
/// HBM, also the HBM bytes for which instructions compete with DMAs; their transfer time is then
/// not part of the compute time.
sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip,
                         collectives::WireBuffers buffers = collectives::WireBuffers::vmem);

}  // namespace equarx::plan
