// Choice of the simulation engine.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/infeasible.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {

/// Purpose of a run, which decides between speed and reference engine.
enum class RunProfile : std::uint8_t {
  single,  ///< one run
  traced,  ///< one run that shows every chip
  batch,   ///< one of many runs that should all be fast
};

/// The engine and the reason.
struct EngineChoice {
  sim::Engine engine = sim::Engine::simgrid;
  std::string reason;  ///< for people: "requested"
};

/// Time limit in seconds of one SimGrid run under `"engine": "auto"`.
inline constexpr double kMostSimgridTime = 0.25;

/// Chooses the engine for a run that takes SimGrid about `simgrid_s` seconds on `machine`.
/// Infeasible if the configuration requires the direct engine, and that does not support the
/// machine.
Expected<EngineChoice> choose_engine(config::EngineMode mode, const sim::Machine& machine,
                                     double simgrid_s, RunProfile profile);

/// Number of threads that may simulate in parallel: `most` (0: one per core), but one with SimGrid,
/// which needs a single-threaded process.
unsigned simulating_threads(sim::Engine engine, unsigned most = 0);
/// The same for many runs: "auto" then means the direct engine.
unsigned simulating_threads(config::EngineMode mode);

}  // namespace equarx::plan
