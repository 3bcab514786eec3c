#include "experiments/step/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "experiments/config/topology.hpp"
#include "experiments/step/placement.hpp"
#include "models/steps/chip_lists.hpp"
#include "sim/symmetry.hpp"

namespace equarx::step {
namespace {

/// A program of a variant, as far as a few chips can stand for all: whom a chip sends to, and over which links.
struct Program {
  std::string label;
  std::vector<std::size_t> axes;  ///< of the machine
  collectives::RankLayout layout = collectives::RankLayout::grid;
  std::vector<std::uint32_t> lengths;        ///< of its rank grid
  std::vector<collectives::Offset> offsets;  ///< by channel
  std::string obstacle;                      ///< why they cannot; empty if they can
};

Program program_of(const config::StepConfig& config, const config::StepCall& of,
                   const plan::CollectivePlan& plan) {
  Program program{.label = plan.config.label,
                  .axes = config.mesh.machine_axes(of.call.axes),
                  .layout = plan.config.algorithm->layout,
                  .lengths = plan.program.grid().lengths(),
                  .offsets = {},
                  .obstacle = {}};
  for (const collectives::Channel& channel : plan.program.channels)
    program.offsets.push_back(channel.offset);
  if (of.call.groups)
    program.obstacle =
        fmt::format("{}: its groups are listed, and no axes of the mesh", program.label);
  else if (!plan.simulated.symmetric)
    program.obstacle = fmt::format("{}: {}", program.label, plan.simulated.reason);
  return program;
}

/// Whether each chip has a link to the next along an axis of the machine, also from its end.
bool is_ring(const config::StepConfig& config, std::size_t axis) {
  const config::TopologyConfig& topology = config.machine.topology;
  if (!config::is_grid(topology) || (topology.network && axis == 0)) return false;
  const std::size_t of_slice = axis - (topology.network ? 1 : 0);
  return topology.shape.lengths[of_slice] == 2 || topology.shape.wraparound[of_slice];
}

/// All chips do the same in a permute that goes on to the next chip, or the one before, along a ring of the machine.
Program program_of(const config::StepConfig& config, const steps::Permute& permute) {
  Program program{.label = "a permute", .axes = {}, .lengths = {}, .offsets = {}, .obstacle = {}};
  const auto shift = steps::shift_of(config.graph.chip_lists[permute.pairs].lists, config.mesh);
  if (shift) program.axes = config.mesh.axes[shift->axis].machine_axes;
  if (program.axes.size() != 1 || !is_ring(config, program.axes.front())) {
    program.obstacle = "a permute does not go on along a ring of the machine";
    return program;
  }
  const std::uint32_t length = config.mesh.axes[shift->axis].length;
  if (shift->steps != 1 && shift->steps != length - 1)
    program.obstacle = "a permute goes on by several chips";
  program.lengths = {length};
  program.offsets = {shift->steps};
  return program;
}

std::vector<Program> programs_of(const config::StepConfig& config, const VariantPlan& variant) {
  std::vector<Program> programs;
  for (const ProgramUse& use : variant.uses)
    programs.push_back(
        use.call ? program_of(config, config.calls[*use.call], variant.calls[*use.call]->plan)
                 : program_of(config, config.permutes[use.permute]));
  return programs;
}

bool is_same_ring_system(const Program& one, const Program& other) {
  return one.axes == other.axes && one.layout == other.layout && one.lengths == other.lengths;
}

bool overlap(const Program& one, const Program& other) {
  return std::ranges::any_of(one.axes, [&](std::size_t axis) {
    return std::ranges::find(other.axes, axis) != other.axes.end();
  });
}

/// Why a few chips cannot stand for all; empty if they can.
std::string asymmetry(const config::StepConfig& config, const std::vector<Program>& programs) {
  if (config.machine.simulation == config::SimulationMode::full) return "asked for";
  if (!config.machine.faults.empty()) return "some links or chips are not as the others";
  for (const Program& program : programs) {
    if (!program.obstacle.empty()) return program.obstacle;
    for (const Program& other : programs)
      if (overlap(program, other) && !is_same_ring_system(program, other))
        return fmt::format("{} and {} use the same links in different ways", program.label,
                           other.label);
  }
  return {};
}

/// Peers are known by the first program that has them on the same links, and by their offset.
void add_representatives(const config::StepConfig& config, const std::vector<Program>& programs,
                         VariantPlan& variant) {
  constexpr int kOffsetBits = 32;
  std::vector<std::uint64_t> peers;
  for (const Program& program : programs) {
    const auto first = std::ranges::find_if(
        programs, [&](const Program& other) { return is_same_ring_system(program, other); });
    const auto system = static_cast<std::uint64_t>(first - programs.begin());
    for (const collectives::Offset offset : program.offsets)
      peers.push_back(system << kOffsetBits | offset);
  }
  const auto queue = static_cast<std::uint32_t>(config.machine.chip.dma_queue.value);
  variant.machine = sim::representative(peers, plan::link_of(config.machine.chip), queue);
  plan::share_hbm(config.machine, variant.machine);
  variant.symmetric = true;
  variant.reason = fmt::format("{} chips stand for all {}, which do the same at the same time",
                               variant.machine.ranks(), config.mesh.chips());
}

void add_all_chips(const config::StepConfig& config, VariantPlan& variant) {
  std::vector<Placement> placements;
  for (const ProgramUse& use : variant.uses) {
    if (use.call)
      placements.push_back(
          place(config, config.calls[*use.call].call, variant.calls[*use.call]->plan));
    else
      placements.push_back(place(config, variant.permutes[use.permute]->permute));
    const std::size_t program = placements.size() - 1;
    variant.work.programs[program].rank_of_chip = placements.back().rank_of_chip;
  }
  variant.machine = machine_of_all(config, placements);
}

}  // namespace

void add_machine(const config::StepConfig& config, VariantPlan& variant) {
  const std::vector<Program> programs = programs_of(config, variant);
  const std::string obstacle = asymmetry(config, programs);
  if (obstacle.empty()) return add_representatives(config, programs, variant);
  if (config.machine.simulation == config::SimulationMode::symmetric)
    throw input::InputError("/simulation",
                            fmt::format("\"symmetric\" cannot time this step: {}; use \"auto\" or "
                                        "\"full\"",
                                        obstacle));
  variant.reason = obstacle;
  add_all_chips(config, variant);
}

}  // namespace equarx::step
