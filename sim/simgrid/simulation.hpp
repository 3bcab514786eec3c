// A simulation on SimGrid, in this process.
#pragma once

#include "sim/simgrid/module.hpp"

namespace equarx::sim {

/// Runs every chip as an actor. Once in the life of a process; ends it at a deadlock, with the request's
/// progress telling so.
void simulate_here(const SimgridRequest& request);

}  // namespace equarx::sim
