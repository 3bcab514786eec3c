// On-demand loading of SimGrid: on Debian it pulls in the ns-3 libraries, which take longer to load
// than most commands take to run.
#pragma once

#include <stdexcept>

#include "sim/progress.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Inputs and output of a simulation by the module.
struct SimgridRequest {
  const Timelines& timelines;
  const Machine& machine;
  const SimulationOptions& options;
  Progress& progress;
  TimeResult& result;
};

/// Interface exported by the module.
struct SimgridModule {
  /// Simulates in this process, at most once: SimGrid supports only one engine per process. On a
  /// deadlock, sets Progress::deadlocked and terminates the process.
  void (*simulate)(const SimgridRequest& request) = nullptr;
};

/// Symbol name of the module's SimgridModule.
inline constexpr const char* kSimgridModuleSymbol = "equarx_simgrid_module";

/// Loads the module on first use. @throws std::runtime_error if it cannot be loaded.
const SimgridModule& load_simgrid();

}  // namespace equarx::sim
