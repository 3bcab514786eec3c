#include "experiments/step/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "experiments/step/placement.hpp"
#include "sim/symmetry.hpp"

namespace equarx::step {
namespace {

/// A collective of a variant, and where its groups lie.
struct Program {
  const plan::CollectivePlan& plan;
  std::vector<std::size_t> axes;  ///< of the machine
};

/// Of a variant whose programs are all collectives along axes.
std::vector<Program> programs_along_axes(const config::StepConfig& config,
                                         const VariantPlan& variant) {
  std::vector<Program> programs;
  for (const ProgramUse& use : variant.uses)
    programs.push_back({variant.calls[use.call.value()]->plan,
                        config.mesh.machine_axes(config.calls[*use.call].call.axes)});
  return programs;
}

bool is_same_ring_system(const Program& one, const Program& other) {
  return one.axes == other.axes &&
         one.plan.config.algorithm->layout == other.plan.config.algorithm->layout &&
         one.plan.program.grid() == other.plan.program.grid();
}

bool overlap(const Program& one, const Program& other) {
  return std::ranges::any_of(one.axes, [&](std::size_t axis) {
    return std::ranges::find(other.axes, axis) != other.axes.end();
  });
}

/// Why a program's groups are not all alike, as can be seen by their kind; empty if they may be.
std::string listed(const config::StepConfig& config, const VariantPlan& variant) {
  for (const ProgramUse& use : variant.uses) {
    if (!use.call) return "a permute sends from some chips to some others";
    const config::StepCall& of = config.calls[*use.call];
    if (of.call.groups)
      return fmt::format("{}: its groups are listed, and no axes of the mesh", of.group);
  }
  return {};
}

/// Why a few chips cannot stand for all; empty if they can.
std::string asymmetry(const config::StepConfig& config, const VariantPlan& variant) {
  if (config.machine.simulation == config::SimulationMode::full) return "asked for";
  if (!config.machine.faults.empty()) return "some links or chips are not as the others";
  if (std::string reason = listed(config, variant); !reason.empty()) return reason;
  const std::vector<Program> programs = programs_along_axes(config, variant);
  for (const Program& program : programs) {
    if (!program.plan.simulated.symmetric)
      return fmt::format("{}: {}", program.plan.config.label, program.plan.simulated.reason);
    for (const Program& other : programs)
      if (overlap(program, other) && !is_same_ring_system(program, other))
        return fmt::format("{} and {} use the same links in different ways",
                           program.plan.config.label, other.plan.config.label);
  }
  return {};
}

/// Peers are known by the first program that has them on the same links, and by their offset.
void add_representatives(const config::StepConfig& config, VariantPlan& variant) {
  constexpr int kOffsetBits = 32;
  const std::vector<Program> programs = programs_along_axes(config, variant);
  std::vector<std::uint64_t> peers;
  for (const Program& program : programs) {
    const auto first = std::ranges::find_if(
        programs, [&](const Program& other) { return is_same_ring_system(program, other); });
    const auto system = static_cast<std::uint64_t>(first - programs.begin());
    for (const collectives::Channel& channel : program.plan.program.channels)
      peers.push_back(system << kOffsetBits | channel.offset);
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
  const std::string obstacle = asymmetry(config, variant);
  if (obstacle.empty()) return add_representatives(config, variant);
  if (config.machine.simulation == config::SimulationMode::symmetric)
    throw input::InputError("/simulation",
                            fmt::format("\"symmetric\" cannot time this step: {}; use \"auto\" or "
                                        "\"full\"",
                                        obstacle));
  variant.reason = obstacle;
  add_all_chips(config, variant);
}

}  // namespace equarx::step
