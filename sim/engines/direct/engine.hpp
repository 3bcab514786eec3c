// The direct engine.
#pragma once

#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Implements simulate() without SimGrid and without forking; reentrant.
TimeResult simulate_directly(const Timelines& timelines, const Machine& machine,
                             const Describe& describe, const SimulationOptions& options);

}  // namespace equarx::sim
