#include "experiments/plan/engine.hpp"

#include <fmt/format.h>

#include "models/values/value_executor.hpp"

namespace equarx::plan {

OrObstacle<EngineChoice> choose_engine(config::EngineMode mode, const sim::Machine& machine,
                                       double simgrid_s, Look look) {
  if (mode == config::EngineMode::simgrid) return EngineChoice{sim::Engine::simgrid, "asked for"};
  const std::string why_not = sim::why_not_direct(machine);
  if (mode == config::EngineMode::direct) {
    if (why_not.empty()) return EngineChoice{sim::Engine::direct, "asked for"};
    return Obstacle{"/engine", fmt::format("\"direct\" cannot run here: {}; use \"auto\" or "
                                           "\"simgrid\"",
                                           why_not)};
  }
  if (!why_not.empty()) return EngineChoice{sim::Engine::simgrid, why_not};
  if (look == Look::at_many) return EngineChoice{sim::Engine::direct, "one run of many"};
  if (look == Look::at_events) return EngineChoice{sim::Engine::direct, "all events of a phase"};
  if (simgrid_s > kMostSimgridTime)
    return EngineChoice{sim::Engine::direct,
                        fmt::format("SimGrid would take longer than {} s", kMostSimgridTime)};
  return EngineChoice{sim::Engine::simgrid, "it is quick here"};
}

unsigned simulating_threads(sim::Engine engine, unsigned most) {
  if (engine == sim::Engine::simgrid) return 1;
  return most == 0 ? values::default_threads() : most;
}

unsigned simulating_threads(config::EngineMode mode) {
  return simulating_threads(mode == config::EngineMode::simgrid ? sim::Engine::simgrid
                                                                : sim::Engine::direct);
}

}  // namespace equarx::plan
