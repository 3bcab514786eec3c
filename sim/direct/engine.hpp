// The engine without SimGrid.
#pragma once

#include "sim/time_executor.hpp"

namespace equarx::sim {

/// simulate() by the direct engine: no fork, no threads, any number at once.
TimeResult simulate_directly(const Timelines& timelines, const Machine& machine,
                             const Describe& describe, const SimulationOptions& options);

}  // namespace equarx::sim
