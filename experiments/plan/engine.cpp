#include "experiments/plan/engine.hpp"

#include <fmt/format.h>

#include "models/values/value_executor.hpp"

namespace equarx::plan {

Expected<EngineChoice> choose_engine(config::EngineMode mode, const sim::Machine& machine,
                                     double simgrid_s, RunProfile profile) {
  const bool available = sim::is_available(sim::Engine::simgrid);
  if (mode == config::EngineMode::simgrid && !available)
    return infeasible("/engine", "SimGrid is not part of this program; use \"auto\" or \"direct\"");
  if (mode == config::EngineMode::simgrid) return EngineChoice{sim::Engine::simgrid, "requested"};
  const std::string why_not = sim::why_not_direct(machine);
  if (mode == config::EngineMode::direct) {
    if (why_not.empty()) return EngineChoice{sim::Engine::direct, "requested"};
    return infeasible("/engine", fmt::format("\"direct\" cannot run here: {}; use \"auto\" or "
                                             "\"simgrid\"",
                                             why_not));
  }
  if (!available && !why_not.empty())
    return infeasible("/engine",
                      fmt::format("this needs SimGrid ({}), which is not part of this program; use "
                                  "equarx-sim on a computer",
                                  why_not));
  if (!why_not.empty()) return EngineChoice{sim::Engine::simgrid, why_not};
  if (profile == RunProfile::batch) return EngineChoice{sim::Engine::direct, "one of many runs"};
  if (!available) return EngineChoice{sim::Engine::direct, "the only one here"};
  if (simgrid_s > kMostSimgridTime)
    return EngineChoice{sim::Engine::direct,
                        fmt::format("SimGrid would take longer than {} s", kMostSimgridTime)};
  return EngineChoice{sim::Engine::simgrid, "fast enough here"};
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
