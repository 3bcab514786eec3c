// What the instructions of a program cost on a chip: where the two meet.
#pragma once

#include "models/collectives/program.hpp"
#include "models/collectives/work.hpp"
#include "models/hardware/chip.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// Core time of every instruction and extra link time of every message. With wire buffers in HBM also the bytes
/// of HBM that instructions share with DMAs, and core times are without the time that these take.
sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip,
                         collectives::WireBuffers buffers = collectives::WireBuffers::vmem);

}  // namespace equarx::plan
