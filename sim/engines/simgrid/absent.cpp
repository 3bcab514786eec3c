// The SimGrid engine of builds without SimGrid.
#include "base/exceptions/exceptions.hpp"
#include "sim/engines/simgrid/engine.hpp"

namespace equarx::sim {

bool has_simgrid() { return false; }

TimeResult simulate_on_simgrid(const Timelines& /*timelines*/, const Machine& /*machine*/,
                               const Describe& /*describe*/, const SimulationOptions& /*options*/) {
  throw exceptions::UserError("/engine",
                              "SimGrid is not part of this program; use \"auto\" or \"direct\"");
}

}  // namespace equarx::sim
