// The engine on SimGrid, for who does not link SimGrid.
#pragma once

#include "sim/time_executor.hpp"

namespace equarx::sim {

/// simulate() by SimGrid, in a child process.
TimeResult simulate_on_simgrid(const Timelines& timelines, const Machine& machine,
                               const Describe& describe, const SimulationOptions& options);

}  // namespace equarx::sim
