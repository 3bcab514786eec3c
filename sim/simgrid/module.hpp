// SimGrid is loaded when a simulation needs it, and not before: with it come the libraries of ns-3 on Debian,
// which take longer to load than most commands take to run.
#pragma once

#include <stdexcept>

#include "sim/progress.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// What the module simulates, and where its result goes.
struct SimgridRequest {
  const Timelines& timelines;
  const Machine& machine;
  const SimulationOptions& options;
  Progress& progress;
  TimeResult& result;
};

/// What the module offers.
struct SimgridModule {
  /// Simulates in this process, which must not do so again: SimGrid has one engine. Ends the process at
  /// a deadlock, with the progress telling so.
  void (*simulate)(const SimgridRequest& request) = nullptr;
};

/// The module's name for its SimgridModule.
inline constexpr const char* kSimgridModuleSymbol = "equarx_simgrid_module";

/// Loads it, once. @throws std::runtime_error if it is not where the program was built or installed.
const SimgridModule& load_simgrid();

}  // namespace equarx::sim
