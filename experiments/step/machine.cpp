#include "experiments/step/machine.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/group_topology.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/step/placement.hpp"
#include "experiments/step/timing.hpp"
#include "models/steps/chip_lists.hpp"
#include "sim/classes.hpp"
#include "sim/switch.hpp"
#include "sim/symmetry.hpp"

namespace equarx::step {
namespace {

/// Hop latencies of a message on a switch: to add, it is asked and answers.
double hops_on_switch(collectives::Ports ports) {
  return ports == collectives::Ports::senders ? 2.0 : 1.0;
}

/// A program of a variant, as far as symmetry is concerned: peers and links.
struct Program {
  std::string label;
  std::vector<std::size_t> axes;  ///< machine axes
  collectives::RankLayout layout = collectives::RankLayout::ring;
  std::vector<std::uint32_t> lengths;        ///< lengths of its rank grid
  std::vector<collectives::Offset> offsets;  ///< by channel
  std::vector<collectives::Ports> ports;     ///< likewise
  std::string asymmetry_reason;              ///< why symmetry cannot be exploited; empty if it can
};

bool is_on_switch(const config::StepConfig& config) {
  return config.machine.topology.kind == config::TopologyKind::on_switch;
}

Program program_of(const config::StepConfig& config, const config::StepCall& of,
                   const plan::CollectivePlan& plan) {
  Program program{.label = of.group,
                  .axes = config.mesh.machine_axes(of.call.axes),
                  .layout = plan.config.algorithm->layout,
                  .lengths = plan.program.grid().lengths(),
                  .offsets = {},
                  .ports = {},
                  .asymmetry_reason = {}};
  // A grid of one axis is a ring.
  if (program.lengths.size() == 1 && program.layout == collectives::RankLayout::grid)
    program.layout = collectives::RankLayout::ring;
  // A ring through a switch has the order of the chips.
  if (is_on_switch(config) && program.layout == collectives::RankLayout::ring)
    program.layout = collectives::RankLayout::any;
  for (const collectives::Channel& channel : plan.program.channels) {
    program.offsets.push_back(channel.offset);
    program.ports.push_back(channel.ports);
  }
  if (of.call.groups)
    program.asymmetry_reason =
        fmt::format("{}: groups are listed instead of mesh axes", program.label);
  else if (!config.mesh.order.empty())
    program.asymmetry_reason = "the order of the chips is given";
  else if (!config::has_own_links(config.machine.topology, config.mesh, of.call, {}))
    program.asymmetry_reason = fmt::format("{}: groups share links", program.label);
  else if (!plan.simulated.symmetric)
    program.asymmetry_reason = fmt::format("{}: {}", program.label, plan.simulated.reason);
  return program;
}

/// True if each chip has a link to the next along a whole machine axis, including wraparound.
/// `part`: entry of the mesh's machine axes
bool is_ring(const config::StepConfig& config, std::size_t part) {
  const config::TopologyConfig& topology = config.machine.topology;
  const std::size_t axis = config.mesh.axis_of(part);
  if (!config::is_grid(topology) || (topology.network && axis == 0)) return false;
  if (config.mesh.machine[part] != config.mesh.whole_axes()[axis]) return false;
  const std::size_t of_slice = axis - (topology.network ? 1 : 0);
  return topology.shape.lengths[of_slice] == 2 || topology.shape.wraparound[of_slice];
}

/// A permute is symmetric if it shifts by one chip along a ring of the machine.
Program program_of(const config::StepConfig& config, const steps::Permute& permute) {
  Program program{.label = "a permute",
                  .axes = {},
                  .lengths = {},
                  .offsets = {},
                  .ports = {},
                  .asymmetry_reason = {}};
  const auto shift = steps::shift_of(config.graph.chip_lists[permute.pairs].lists, config.mesh);
  if (shift) program.axes = config.mesh.axes[shift->axis].machine_axes;
  if (program.axes.size() != 1 || !is_ring(config, program.axes.front())) {
    program.asymmetry_reason = "a permute is not a shift along a ring of the machine";
    return program;
  }
  const std::uint32_t length = config.mesh.axes[shift->axis].length;
  if (shift->steps != 1 && shift->steps != length - 1)
    program.asymmetry_reason = "a permute shifts by several chips";
  program.lengths = {length};
  program.offsets = {shift->steps};
  program.ports = {collectives::Ports::both};
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

bool same_ring_system(const Program& one, const Program& other) {
  return one.axes == other.axes && one.layout == other.layout && one.lengths == other.lengths;
}

bool overlap(const Program& one, const Program& other) {
  return std::ranges::any_of(one.axes, [&](std::size_t axis) {
    return std::ranges::find(other.axes, axis) != other.axes.end();
  });
}

/// Returns why symmetry cannot be exploited; empty if it can.
std::string asymmetry(const config::StepConfig& config, const VariantPlan& variant,
                      const std::vector<Program>& programs) {
  if (config.machine.simulation == config::SimulationMode::full) return "requested";
  if (!config.machine.faults.empty()) return "some links or chips are slow or failed";
  for (const Program& program : programs) {
    if (!program.asymmetry_reason.empty()) return program.asymmetry_reason;
    for (const Program& other : programs)
      if (overlap(program, other) && !same_ring_system(program, other))
        return fmt::format("{} and {} share links but differ in rings", program.label, other.label);
  }
  if (!variant.work.chip_sets.empty()) return "chips run different tasks";
  return {};
}

/// Peers are identified by their offset and the first program on the same links; those of sums and
/// copies in a switch, which are not sent to a chip, apart from others.
void add_representatives(const config::StepConfig& config, const config::ExperimentConfig& machine,
                         const std::vector<Program>& programs, VariantPlan& variant) {
  constexpr int kOffsetBits = 32;
  constexpr int kPortsBits = 60;
  std::vector<std::uint64_t> peers;
  std::vector<collectives::Channel> channels;
  for (const Program& program : programs) {
    const auto first = std::ranges::find_if(
        programs, [&](const Program& other) { return same_ring_system(program, other); });
    const auto system = static_cast<std::uint64_t>(first - programs.begin());
    for (std::size_t channel = 0; channel < program.offsets.size(); ++channel) {
      const auto ports = static_cast<std::uint64_t>(program.ports[channel]);
      peers.push_back(ports << kPortsBits | system << kOffsetBits | program.offsets[channel]);
      channels.push_back({.offset = 0, .name = {}, .ports = program.ports[channel]});
    }
  }
  const auto queue = static_cast<std::uint32_t>(machine.chip.dma_queue.value);
  variant.machine =
      is_on_switch(config)
          ? sim::representative_on_switch(peers, channels, plan::switch_of(machine.chip), queue)
          : sim::representative(peers, plan::link_of(machine.chip), queue);
  plan::share_hbm(machine, variant.machine);
  variant.by_class =
      sim::by_class(variant.machine, std::vector<std::uint32_t>(variant.machine.ranks()));
  variant.symmetric = true;
  variant.reason =
      fmt::format("{} of {} chips simulated", variant.machine.ranks(), config.mesh.chips());
}

/// The machine with the least hop latency and the greatest rate of links of any of its collectives;
/// what their protocols add is stated with the programs.
config::ExperimentConfig machine_of_protocols(const config::StepConfig& config,
                                              VariantPlan& variant) {
  config::ExperimentConfig machine = config.machine;
  hardware::Chip& chip = machine.chip;
  std::vector<hardware::Chip> own;
  for (const ProgramUse& use : variant.uses) {
    own.push_back(use.call
                      ? plan::chip_of(variant.calls[*use.call]->plan.config, config.machine.chip)
                      : config.machine.chip);
    chip.hop_latency.value = std::min(chip.hop_latency.value, own.back().hop_latency.value);
    chip.link_efficiency.value =
        std::max(chip.link_efficiency.value, own.back().link_efficiency.value);
  }
  machine.topology.planned = nullptr;
  for (std::size_t i = 0; i < variant.uses.size(); ++i) {
    sim::PlacedProgram& placed = variant.work.programs[i];
    const std::optional<std::size_t> call = variant.uses[i].call;
    const bool in_switch = call && variant.calls[*call]->plan.config.algorithm->in_switch;
    const double hop_s = own[i].hop_latency.value - chip.hop_latency.value;
    if (hop_s > 0.0)
      for (const collectives::Channel& channel : placed.program->channels)
        placed.latency_s.push_back(hop_s * hops_on_switch(channel.ports));
    if (!in_switch)
      placed.bytes_of_byte = chip.link_efficiency.value / own[i].link_efficiency.value;
  }
  return machine;
}

/// Placements by program; uses of one collective or permute share theirs.
std::vector<std::shared_ptr<const Placement>> placements_of(const config::StepConfig& config,
                                                            const VariantPlan& variant) {
  std::map<std::pair<bool, std::size_t>, std::shared_ptr<const Placement>> known;
  std::vector<std::shared_ptr<const Placement>> placements;
  for (const ProgramUse& use : variant.uses) {
    auto& placement = known[{use.call.has_value(), use.call.value_or(use.permute)}];
    if (!placement && use.call)
      placement = std::make_shared<const Placement>(
          place(config, config.calls[*use.call].call, variant.calls[*use.call]->plan));
    if (!placement)
      placement =
          std::make_shared<const Placement>(place(config, variant.permutes[use.permute]->permute));
    placements.push_back(placement);
  }
  return placements;
}

/// True if chips may be simulated by classes.
bool may_have_classes(const config::StepConfig& config) {
  return config.machine.simulation != config::SimulationMode::full &&
         config.machine.faults.empty() && engine_of(config) == sim::Engine::direct;
}

/// The most classes that are worth a simulation by classes: all chips where these differ in tasks, or in
/// the way to others over a network.
std::uint32_t most_classes(const config::StepConfig& config, const VariantPlan& variant,
                           const sim::Machine& machine) {
  if (!variant.work.chip_sets.empty() || config.machine.topology.network) return machine.ranks();
  return sim::shares_links(machine) ? machine.ranks() / 2 : 0;
}

std::vector<bool> of_chips(const std::vector<bool>& set, const std::vector<std::uint32_t>& chips) {
  std::vector<bool> chosen;
  for (const std::uint32_t chip : chips) chosen.push_back(set[chip]);
  return chosen;
}

/// Simulates one chip of each class if there are fewer classes than chips in `machine`.
void choose_classes(std::uint32_t most, sim::Machine& machine, VariantPlan& variant) {
  const std::uint32_t chips = machine.ranks();
  auto found = sim::few_classes(machine, sim::chip_kinds(variant.work, chips), most);
  if (!found) return;
  SimulatedClasses classes{*std::move(found), {}};
  const std::vector<collectives::Rank>& firsts = classes.chips.firsts;
  if (firsts.size() == chips) return;
  sim::ClassMachine made = sim::class_machine(machine, classes.chips);
  if (!made.obstacle.empty()) {
    variant.reason = made.obstacle;
    return;
  }
  for (std::vector<bool>& set : variant.work.chip_sets) set = of_chips(set, firsts);
  for (sim::PlacedProgram& program : variant.work.programs) {
    std::vector<collectives::Rank> ranks;
    for (const collectives::Rank chip : firsts) ranks.push_back(program.rank_of_chip[chip]);
    program.rank_of_chip = std::move(ranks);
  }
  machine = std::move(made.machine);
  classes.link_weights = std::move(made.link_weights);
  variant.reason = fmt::format("{} of {} chips simulated: one per class", firsts.size(), chips);
  variant.classes = std::move(classes);
  variant.symmetric = true;
}

/// Adds one chip of each class, or all chips for the reason that the variant has.
void add_chips(const config::StepConfig& config, const config::ExperimentConfig& machine,
               VariantPlan& variant) {
  const std::vector<std::shared_ptr<const Placement>> placements = placements_of(config, variant);
  for (std::size_t program = 0; program < placements.size(); ++program)
    variant.work.programs[program].rank_of_chip = placements[program]->rank_of_chip;
  PlacedMachine placed = machine_of_all(machine, placements);
  if (may_have_classes(config))
    choose_classes(most_classes(config, variant, placed.machine), placed.machine, variant);
  sim::set_channels(placed.channels, placed.machine);
  variant.machine = std::move(placed.machine);
}

}  // namespace

void add_machine(const config::StepConfig& config, VariantPlan& variant) {
  const std::vector<Program> programs = programs_of(config, variant);
  const config::ExperimentConfig machine = machine_of_protocols(config, variant);
  const std::string asymmetry_reason = asymmetry(config, variant, programs);
  if (asymmetry_reason.empty()) return add_representatives(config, machine, programs, variant);
  variant.reason = asymmetry_reason;
  add_chips(config, machine, variant);
  if (!variant.symmetric && config.machine.simulation == config::SimulationMode::symmetric)
    throw input::InputError(
        "/simulation", fmt::format("\"symmetric\" is impossible for this step: {}; use \"auto\" or "
                                   "\"full\"",
                                   variant.reason));
}

}  // namespace equarx::step
