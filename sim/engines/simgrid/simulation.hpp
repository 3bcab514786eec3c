// SimGrid simulation in the current process.
#pragma once

#include "sim/engines/simgrid/module.hpp"

namespace equarx::sim {

/// Runs every chip as an actor. At most once per process. On a deadlock, sets Progress::deadlocked
/// and terminates the process.
void simulate_here(const SimgridRequest& request);

}  // namespace equarx::sim
