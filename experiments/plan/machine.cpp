#include "experiments/plan/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/process/host_memory.hpp"
#include "base/units/quantity.hpp"
#include "experiments/plan/placement.hpp"
#include "models/collectives/traffic.hpp"
#include "sim/symmetry.hpp"

namespace equarx::plan {
namespace {

using collectives::Rank;
using collectives::RankGrid;
using topology::ChipId;

// --- Links and routes

/// The first `count` links of a topology.
std::vector<sim::LinkSpec> make_links(const config::PlannedTopology& topology,
                                      topology::LinkId count) {
  std::vector<sim::LinkSpec> links;
  for (topology::LinkId id = 0; id < count; ++id) {
    const topology::Link link = topology.graph.link(id);
    const std::string& from = topology.graph.label(link.from);
    const std::string& to = topology.graph.label(link.to);
    links.push_back({.name = fmt::format("{}->{}", from, to),
                     .rate = topology.links[id].rate,
                     .latency = topology.links[id].latency_s,
                     .from = from,
                     .to = to});
  }
  return links;
}

/// Indices of a network's ports among the links of a machine: after the links between chips, two
/// per port, for egress and ingress.
class Ports {
 public:
  /// `chips`: number in the machine, all or only the first slice
  Ports(const config::NetworkConfig& network, const config::PlannedTopology& topology, ChipId chips)
      : network_(network), topology_(topology), chips_(chips) {}

  void add_to(sim::Machine& machine) {
    first_ = static_cast<sim::LinkIndex>(machine.links.size());
    for (ChipId chip = 0; chip < chips_; chip += network_.chips_per_port) {
      const std::string& name = topology_.graph.label(chip);
      const std::string network(kNetwork);
      machine.links.push_back({fmt::format("{}->{}", name, network), network_.bandwidth.value,
                               network_.latency.value, name, network});
      machine.links.push_back(
          {fmt::format("{}->{}", network, name), network_.bandwidth.value, 0.0, network, name});
    }
  }

  bool between(ChipId from, ChipId to) const {
    const ChipId chips = topology_.slice->graph.chip_count();
    return from / chips != to / chips;
  }

  sim::Route route(ChipId from, ChipId to) const {
    return {first_ + 2 * (from / network_.chips_per_port),
            first_ + 2 * (to % chips_ / network_.chips_per_port) + 1};
  }

 private:
  const config::NetworkConfig& network_;
  const config::PlannedTopology& topology_;
  ChipId chips_;
  sim::LinkIndex first_ = 0;
};

void apply_faults(const config::FaultsConfig& faults, const config::PlannedTopology& topology,
                  const std::vector<ChipId>& chips, sim::Machine& machine) {
  for (const config::LinkFault& fault : faults.links)
    for (const auto& [from, to] : {std::pair{fault.cable.first, fault.cable.second},
                                   std::pair{fault.cable.second, fault.cable.first}}) {
      const topology::LinkId link = topology.graph.find_link(from, to).value();
      machine.links[link].rate *= fault.bandwidth_factor;
      machine.links[link].latency += fault.extra_latency_s;
      if (fault.fails_at_s) machine.failures.push_back({link, *fault.fails_at_s});
    }
  if (faults.chips.empty()) return;
  machine.slowdown.assign(chips.size(), 1.0);
  for (const config::ChipFault& fault : faults.chips)
    machine
        .slowdown[static_cast<std::size_t>(std::ranges::find(chips, fault.chip) - chips.begin())] *=
        fault.slowdown;
}

/// Links shared by several pairs of chips do not reach their full rate.
void slow_shared_links(double efficiency, std::size_t cables, sim::Machine& machine) {
  const std::vector<std::uint32_t> users = sim::users_of_links(machine);
  for (std::size_t link = 0; link < cables; ++link)
    if (users[link] > 1) machine.links[link].rate *= efficiency;
}

/// True if a network joins slices that have the same links, and one of them may stand for all.
bool has_equal_slices(const config::ExperimentConfig& config) {
  return config.topology.network && config.topology.kind != config::TopologyKind::on_switch &&
         config.wire_buffers == collectives::WireBuffers::vmem && config.faults.empty();
}

/// True if the chips of all slices of a uniform program send at the same time, over alike links: moving
/// every rank to the same chip of the next slice does not change its peers.
bool slices_are_alike(const RankGrid& grid, const std::vector<ChipId>& chips,
                      const MachineContext& context) {
  if (!has_equal_slices(context.config())) return false;
  const ChipId slice = context.topology().slice->graph.chip_count();
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    const Rank next = (rank + slice) % grid.ranks();
    if (grid.move(rank, slice) != next || chips[next] != (chips[rank] + slice) % grid.ranks())
      return false;
  }
  return true;
}

/// `by_slice`: of the first slice alone, if all are alike; the program is then uniform
sim::Machine make_machine(config::Algorithm algorithm, const collectives::Program& program,
                          const MachineContext& context, bool by_slice) {
  const RankGrid& grid = program.grid();
  const std::vector<ChipId> chips = place_ranks(algorithm, grid, context);
  const bool folded = by_slice && slices_are_alike(grid, chips, context);
  const Rank ranks = folded ? context.topology().slice->graph.chip_count() : grid.ranks();
  return wire_up(
      context, chips, program.channels,
      [&](Rank rank, std::size_t channel) {
        const Rank peer = grid.move(rank, program.channels[channel].offset);
        return program.graph && !program.graph->joins(rank, peer) ? rank : peer;
      },
      ranks);
}

// --- Representatives

/// True if every message uses a dedicated link to a neighbour and all links are alike, or all chips
/// are on one switch, decided without enumerating chips.
bool is_symmetric_by_construction(config::Algorithm algorithm,
                                  const config::ExperimentConfig& config) {
  const config::TopologyConfig& topology = config.topology;
  if (topology.network || !config.faults.empty() || config.tensor.counts ||
      config.collective == collectives::Collective::broadcast)
    return false;
  if (topology.kind == config::TopologyKind::on_switch) return algorithm->is_uniform;
  if (!config::is_grid(topology)) return false;
  if (algorithm->layout == collectives::RankLayout::ring) {
    if (!topology.avoid.empty()) return false;
    return grid_ring(topology.shape).has_value();
  }
  const topology::GridShape& shape = topology.shape;
  bool closed = true;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis)
    closed = closed && (shape.lengths[axis] <= 2 || shape.wraparound[axis]);
  return algorithm->layout == collectives::RankLayout::grid && closed;
}

SimulatedMachine simulated(sim::Machine machine, const collectives::Program& program) {
  const std::string reason =
      fmt::format("{} of {} chips simulated", machine.ranks(), program.ranks());
  return {std::make_shared<const sim::Machine>(std::move(machine)), true, reason};
}

/// By rank, the number of its instructions: equal for ranks with equal ones.
std::vector<std::uint32_t> kinds_of(const collectives::Program& program, std::uint32_t ranks) {
  const std::vector<Rank> firsts = sim::rank_range_starts(program);
  std::vector<std::uint32_t> kinds;
  for (Rank rank = 0; rank < ranks; ++rank)
    kinds.push_back(
        static_cast<std::uint32_t>(std::ranges::upper_bound(firsts, rank) - firsts.begin()));
  return kinds;
}

/// Memory that an engine needs to simulate all chips, in bytes: measured on 256 to 4,096 chips,
/// with a margin.
struct MemoryUse {
  double chip = 0.0;
  double channel = 0.0;   ///< per channel of a chip
  double transfer = 0.0;  ///< per transfer in flight
  double pair = 0.0;      ///< per pair of chips
};
/// Per chip an actor with its stack and host; per channel a mailbox, a queue and a route; per pair
/// a routing table entry.
constexpr MemoryUse kSimgridMemory{64.0 * 1024, 3.5 * 1024, 1.25 * 1024, 8.0};
/// Per chip a position in its instruction stream; per channel an inbox, a route, and the route's
/// entries at its links.
constexpr MemoryUse kDirectMemory{1024.0, 1024.0, 32.0, 0.0};

/// True if the ports and routes of one slice suffice to simulate many, which are then never made.
bool may_stand_for_all(config::Algorithm algorithm, const config::ExperimentConfig& config) {
  return has_equal_slices(config) && config.simulation == config::SimulationMode::automatic &&
         config.engine != config::EngineMode::simgrid && algorithm->is_uniform &&
         algorithm->layout != collectives::RankLayout::graph && !config.tensor.counts &&
         config.collective != collectives::Collective::broadcast;
}

/// `most_wired`: number of the chips that have ports and routes
double needed_bytes(config::Algorithm algorithm, const RankGrid& grid, const hardware::Chip& chip,
                    const MemoryUse& use, std::uint32_t most_wired) {
  constexpr double kMostAtOnce = 16.0;  // channels in use
  // per channel: the first transfers of longer queues have arrived by then
  constexpr double kMostQueued = 256.0;
  const double chips = grid.ranks();
  const auto channels = static_cast<double>(algorithm->channels(grid));
  const double at_once = std::min(channels / static_cast<double>(grid.axes()), kMostAtOnce);
  const double transfers = std::min(chip.dma_queue.value, kMostQueued) * at_once;
  const double wired = std::min(grid.ranks(), most_wired);
  return chips * use.chip + wired * (use.channel * channels + use.transfer * transfers) +
         use.pair * chips * chips;
}

/// Estimates how many chips fit, by halving the longest axis; 0 if not even two do.
std::uint32_t chips_that_fit(config::Algorithm algorithm, const RankGrid& grid,
                             const hardware::Chip& chip, const MemoryUse& use,
                             std::uint32_t most_wired, double available) {
  std::vector<std::uint32_t> lengths = grid.lengths();
  for (;;) {
    const RankGrid smaller(lengths);
    if (needed_bytes(algorithm, smaller, chip, use, most_wired) <= available)
      return smaller.ranks();
    std::uint32_t& longest = *std::ranges::max_element(lengths);
    if (longest >= 4)
      longest /= 2;
    else if (lengths.size() > 1)
      lengths.pop_back();  // hypercube: one dimension less
    else
      return 0;
  }
}

}  // namespace

sim::Machine wire_up(const MachineContext& context, const std::vector<ChipId>& chips,
                     std::span<const collectives::Channel> channels, const PeerOf& peer_of) {
  return wire_up(context, chips, channels, peer_of, static_cast<Rank>(chips.size()));
}

sim::Machine wire_up(const MachineContext& context, const std::vector<ChipId>& chips,
                     std::span<const collectives::Channel> channels, const PeerOf& peer_of,
                     Rank ranks) {
  const config::PlannedTopology& topology = context.topology();
  const topology::Topology& wired = (ranks < chips.size() ? *topology.slice : topology).graph;
  sim::Machine machine;
  machine.dma_queue = static_cast<std::uint32_t>(context.config().chip.dma_queue.value);
  machine.links = make_links(topology, wired.link_count());
  const std::size_t cables = machine.links.size();
  std::optional<Ports> ports;
  if (topology.slice)
    ports.emplace(*context.config().topology.network, topology, wired.chip_count()).add_to(machine);
  const bool on_switch = context.config().topology.kind == config::TopologyKind::on_switch;
  std::optional<sim::SwitchRoutes> through_switch;
  if (on_switch)
    through_switch.emplace(switch_of(context.config().chip), topology.graph.chip_count(), channels,
                           machine);
  const auto route_between = [&](ChipId from, ChipId to, collectives::Ports used) -> sim::Route {
    if (from == to) return {};  // no messages
    if (ports && ports->between(from, to)) return ports->route(from, to);
    return on_switch ? through_switch->route(from, to, used) : cables_between(topology, from, to);
  };
  machine.out_ports.reserve(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    machine.chip_names.push_back(topology.graph.label(chips[rank]));
    auto& out_ports = machine.out_ports.emplace_back();
    out_ports.reserve(channels.size());
    std::map<Rank, std::size_t> known;  // several channels may have the same peer
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      const Rank peer = peer_of(rank, channel);
      const auto [found, is_new] = known.emplace(peer, out_ports.size());
      out_ports.push_back(
          {.peer = peer % ranks,
           .route = is_new ? route_between(chips[rank], chips[peer], channels[channel].ports)
                           : out_ports[found->second].route,
           .lane = peer / ranks});
    }
  }
  apply_faults(context.config().faults, topology, chips, machine);
  if (!on_switch)
    slow_shared_links(context.config().chip.shared_link_efficiency.value, cables, machine);
  share_hbm(context.config(), machine);
  return machine;
}

sim::LinkSpec link_of(const hardware::Chip& chip) {
  return {.name = {}, .rate = chip.link_rate(), .latency = chip.hop_latency.value};
}

sim::SwitchSpec switch_of(const hardware::Chip& chip) {
  const double links = chip.links.value;
  return {.rate = links * chip.link_rate(),
          .latency = chip.hop_latency.value,
          .operation_rate = links * chip.link_bandwidth.value * chip.switch_efficiency.value};
}

sim::Machine representative_of(const collectives::Program& program,
                               const config::ExperimentConfig& config) {
  const auto queue = static_cast<std::uint32_t>(config.chip.dma_queue.value);
  const bool on_switch = config.topology.kind == config::TopologyKind::on_switch;
  sim::Machine machine = on_switch
                             ? sim::representative_on_switch(program, switch_of(config.chip), queue)
                             : sim::representative(program, link_of(config.chip), queue);
  share_hbm(config, machine);
  return machine;
}

void share_hbm(const config::ExperimentConfig& config, sim::Machine& machine) {
  if (config.wire_buffers == collectives::WireBuffers::hbm)
    sim::add_hbm(config.chip.hbm_rate(), machine);
}

Expected<void> MachineContext::prepare() {
  if (topology_) return {};
  const std::string obstacle = config::why_not_chip_by_chip(config_.topology);
  if (!obstacle.empty()) return infeasible("/topology", obstacle);
  topology_ = config_.topology.planned;
  if (!topology_)
    topology_ = std::make_shared<const config::PlannedTopology>(
        config::plan_topology(config_.topology, config_.chip));
  return {};
}

Expected<void> MachineContext::prepare(config::Algorithm algorithm) {
  const Expected<void> prepared = prepare();
  if (!prepared || algorithm->layout != collectives::RankLayout::ring || !ring_.empty())
    return prepared;
  return plan_ring(config_.topology, *topology_).map([&](Ring&& ring) { ring_ = std::move(ring); });
}

std::shared_ptr<const sim::Machine> MachineContext::machine_of(config::Algorithm algorithm,
                                                               const collectives::Program& program,
                                                               bool by_slice) {
  by_slice = by_slice && !program.graph && collectives::is_uniform(program);
  const auto same_channel = [](const collectives::Channel& one, const collectives::Channel& other) {
    return one.offset == other.offset && one.ports == other.ports;
  };
  const auto fits = [&](const Wired& wired) {
    return wired.layout == algorithm->layout && wired.grid == program.grid() &&
           wired.by_slice == by_slice &&
           std::ranges::equal(wired.channels, program.channels, same_channel);
  };
  const auto known = std::ranges::find_if(wired_, fits);
  if (known != wired_.end() && !program.graph) return known->machine;
  auto machine =
      std::make_shared<const sim::Machine>(make_machine(algorithm, program, *this, by_slice));
  if (!program.graph)
    wired_.push_back({algorithm->layout, program.grid(), program.channels, by_slice, machine});
  return machine;
}

std::shared_ptr<const sim::MachineByClass> MachineContext::classes_of(
    const std::shared_ptr<const sim::Machine>& machine, std::vector<std::uint32_t> kinds) {
  const auto known = std::ranges::find_if(classified_, [&](const Classified& one) {
    return one.machine == machine && one.kinds == kinds;
  });
  if (known != classified_.end()) return known->by_class;
  auto by_class = sim::by_class(*machine, kinds);
  classified_.push_back({machine, std::move(kinds), by_class});
  return by_class;
}

bool has_representatives(config::Algorithm algorithm, const config::ExperimentConfig& config) {
  return config.simulation != config::SimulationMode::full &&
         is_symmetric_by_construction(algorithm, config);
}

Expected<void> check_machine_memory(config::Algorithm algorithm, const RankGrid& grid,
                                    const config::ExperimentConfig& config, RunProfile profile) {
  if (has_representatives(algorithm, config)) return {};
  const bool on_simgrid = config.engine == config::EngineMode::simgrid;
  const MemoryUse& use = on_simgrid ? kSimgridMemory : kDirectMemory;
  const std::uint32_t wired = profile == RunProfile::traced || !may_stand_for_all(algorithm, config)
                                  ? grid.ranks()
                                  : config::count_chips_of_slice(config.topology);
  const double needed = needed_bytes(algorithm, grid, config.chip, use, wired);
  if (needed <= process::kLittleMemory) return {};
  const double available = process::available_memory_bytes();
  if (needed <= available) return {};
  return infeasible(
      "/simulation",
      fmt::format("simulating all {} chips needs {} of memory, but this computer has {}, which is "
                  "enough for about {}; use {}fewer chips, or a uniform torus or ring, for which "
                  "representative chips suffice",
                  grid.ranks(), units::bytes_text(needed), units::bytes_text(available),
                  chips_that_fit(algorithm, grid, config.chip, use, wired, available),
                  on_simgrid ? "the direct engine, " : ""));
}

Expected<SimulatedMachine> plan_machine(config::Algorithm algorithm,
                                        const collectives::Program& program,
                                        MachineContext& context, bool by_slice) {
  const config::ExperimentConfig& config = context.config();
  if (has_representatives(algorithm, config))
    return simulated(representative_of(program, config), program);
  if (auto prepared = context.prepare(algorithm); !prepared)
    return tl::unexpected(prepared.error());
  std::shared_ptr<const sim::Machine> machine = context.machine_of(
      algorithm, program, by_slice && config.simulation == config::SimulationMode::automatic);
  if (config.simulation == config::SimulationMode::full)
    return SimulatedMachine{std::move(machine), false, "requested"};
  if (const Rank slice = machine->ranks(); slice < program.ranks()) {
    SimulatedMachine simulated{
        std::move(machine), false,
        fmt::format("{} of {} chips simulated: one slice", slice, program.ranks())};
    simulated.slices = program.ranks() / slice;
    return simulated;
  }
  const std::string obstacle = sim::asymmetry(program, *machine);
  // Not always a gain: there is one representative chip more than a chip has peers.
  if (obstacle.empty()) {
    const sim::LinkSpec link = machine->links[machine->out_ports.front().front().route.front()];
    sim::Machine few = sim::representative(program, link, machine->dma_queue);
    share_hbm(config, few);
    return simulated(std::move(few), program);
  }
  if (config.simulation == config::SimulationMode::symmetric)
    return infeasible(
        "/simulation",
        fmt::format("\"symmetric\" cannot time '{}' here: {}; use \"auto\" or \"full\"",
                    algorithm->name, obstacle));
  return SimulatedMachine{std::move(machine), false, obstacle};
}

void simulate_by_class(const collectives::Program& program, MachineContext& context,
                       SimulatedMachine& simulated) {
  simulated.by_class = nullptr;
  const sim::Machine& machine = simulated.machine();
  if (context.config().simulation == config::SimulationMode::full || program.counts ||
      !machine.failures.empty())
    return;
  if (!simulated.symmetric && !sim::shares_links(machine)) return;
  simulated.by_class = context.classes_of(simulated.shared, kinds_of(program, machine.ranks()));
}

}  // namespace equarx::plan
