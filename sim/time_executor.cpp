#include "sim/time_executor.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/engines/direct/engine.hpp"
#include "sim/engines/simgrid/engine.hpp"

namespace equarx::sim {

bool is_available(Engine engine) { return engine == Engine::direct || has_simgrid(); }

std::string_view name(Engine engine) { return engine == Engine::direct ? "direct" : "simgrid"; }

std::string why_not_direct(const Machine& machine) {
  std::vector<std::uint32_t> last_user(machine.links.size());
  std::uint32_t route = 0;
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank]) {
      if (!port.sends(rank)) continue;
      if (port.route.empty()) return "messages cross no link";
      ++route;
      for (const LinkIndex link : port.route)
        if (std::exchange(last_user[link], route) == route)
          return "messages cross one link twice: " + machine.links[link].name;
    }
  return {};
}

TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options) {
  if (!costs.hbm_bytes.empty() && machine.hbm.empty())
    throw std::logic_error("cores access HBM but the machine has no HBMs");
  const auto instruction = [&program](std::uint32_t, collectives::InstructionId id) {
    return describe(program, id);
  };
  return simulate(make_timelines(program, costs, machine.ranks(), options.traced), machine,
                  instruction, options);
}

TimeResult simulate(const Timelines& timelines, const Machine& machine, const Describe& describe,
                    const SimulationOptions& options) {
  return options.engine == Engine::direct
             ? simulate_directly(timelines, machine, describe, options)
             : simulate_on_simgrid(timelines, machine, describe, options);
}

}  // namespace equarx::sim
