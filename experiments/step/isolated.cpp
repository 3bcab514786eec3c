#include "experiments/step/isolated.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/parts.hpp"
#include "sim/step_program.hpp"

namespace equarx::step {
namespace {

/// A part of the machine, with the ranks of its chips.
struct Part {
  sim::Machine machine;
  std::vector<collectives::Rank> rank_of_chip;
  std::vector<bool> runs;  ///< by chip: true if it runs the program

  bool is_like(const Part& other) const {
    return rank_of_chip == other.rank_of_chip && runs == other.runs &&
           sim::are_alike(machine, other.machine);
  }
};

/// One of each kind of independent parts.
std::vector<Part> different_parts(const sim::Machine& machine, const Placement& placement) {
  std::vector<Part> parts;
  for (const sim::Ranks& ranks : sim::independent_parts(machine)) {
    Part part{sim::part_of(machine, ranks), {}, {}};
    for (const collectives::Rank chip : ranks) {
      part.rank_of_chip.push_back(placement.rank_of_chip[chip]);
      part.runs.push_back(placement.runs.empty() || placement.runs[chip]);
    }
    if (std::ranges::none_of(parts, [&](const Part& known) { return part.is_like(known); }))
      parts.push_back(std::move(part));
  }
  return parts;
}

/// Null if all chips of a part have links of their own, which are simulated fast.
std::shared_ptr<const sim::MachineByClass> by_class(const Part& part,
                                                    const sim::Timelines& timelines) {
  const bool simple = !part.machine.failures.empty() || !sim::shares_links(part.machine);
  return simple ? nullptr : sim::by_class(part.machine, sim::chip_kinds(timelines));
}

sim::TimeResult simulate(const Part& part, const collectives::Program& program,
                         const sim::Costs& costs) {
  const sim::StepProgram work{.programs = {{&program, &costs, part.rank_of_chip}},
                              .chip_sets = {part.runs},
                              .streams = {{sim::TaskRun{.task = 0, .program = 0, .chips = 0}}},
                              .tasks = 1};
  const auto name = [](std::uint32_t, collectives::InstructionId) {
    return std::string("isolated");
  };
  const sim::Timelines timelines = sim::make_timelines(work, part.machine.ranks());
  return sim::simulate(timelines, part.machine, name,
                       {.engine = sim::Engine::direct, .by_class = by_class(part, timelines)});
}

}  // namespace

sim::TimeResult simulate_isolated(const config::ExperimentConfig& machine_config,
                                  const collectives::Program& program, const sim::Costs& costs,
                                  const Placement& placement) {
  const sim::Machine machine = machine_of(machine_config, placement);
  sim::TimeResult slowest;
  for (const Part& part : different_parts(machine, placement)) {
    sim::TimeResult time = simulate(part, program, costs);
    if (time.time_s >= slowest.time_s) slowest = std::move(time);
  }
  return slowest;
}

}  // namespace equarx::step
