// Which engine moves the clock.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/obstacle.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {

/// What somebody looks at.
enum class Look : std::uint8_t {
  at_it,      ///< one run
  at_events,  ///< one run with all its events; where they are many, SimGrid takes long to note them
  at_many,    ///< what many runs come to, of which each should take no time
};

/// What simulates, and why.
struct EngineChoice {
  sim::Engine engine = sim::Engine::simgrid;
  std::string reason;  ///< for people: "asked for"
};

/// What `"engine": "auto"` lets SimGrid take for one run, in seconds.
inline constexpr double kMostSimgridTime = 0.25;

/// The engine for a run that takes SimGrid about `simgrid_s` seconds on `machine`. An obstacle if the
/// configuration asks for the direct engine, and that does not know how to run on it.
OrObstacle<EngineChoice> choose_engine(config::EngineMode mode, const sim::Machine& machine,
                                       double simgrid_s, Look look);

/// Threads that may simulate side by side: `most` (0: one for each core), but one with SimGrid, which simulates in
/// a process that has no other threads.
unsigned simulating_threads(sim::Engine engine, unsigned most = 0);
/// Of runs that are many: what the configuration leaves open is not SimGrid's then.
unsigned simulating_threads(config::EngineMode mode);

}  // namespace equarx::plan
