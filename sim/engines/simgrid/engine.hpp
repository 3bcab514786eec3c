// The SimGrid engine; including it does not require linking SimGrid.
#pragma once

#include "sim/time_executor.hpp"

namespace equarx::sim {

/// False in builds without SimGrid.
bool has_simgrid();

/// Implements simulate() with SimGrid in a child process.
TimeResult simulate_on_simgrid(const Timelines& timelines, const Machine& machine,
                               const Describe& describe, const SimulationOptions& options);

}  // namespace equarx::sim
