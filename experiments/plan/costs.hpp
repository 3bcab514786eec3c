// What the instructions of a program cost on a chip: where the two meet.
#pragma once

#include "models/collectives/program.hpp"
#include "models/hardware/chip.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// Core time of every instruction and extra link time of every message.
sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip);

}  // namespace equarx::plan
