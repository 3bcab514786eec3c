#include "experiments/step/placement.hpp"

#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/input/errors.hpp"
#include "experiments/config/group_topology.hpp"
#include "experiments/plan/placement.hpp"

namespace equarx::step {
namespace {

using collectives::Rank;
using topology::ChipId;

/// Groups, each in rank order.
using Groups = std::vector<std::vector<ChipId>>;

/// Places the ranks of each group as on a machine that consists of this group.
Groups placed_groups(const config::StepConfig& config, const steps::CollectiveCall& call,
                     const plan::CollectivePlan& plan) {
  config::GroupPlace place =
      config::group_place(config.machine.topology, config.mesh, call, config.graph.chip_lists);
  config::ExperimentConfig experiment = config.machine;
  experiment.topology = place.topology;
  plan::MachineContext context(experiment);
  plan::value_or_throw(context.prepare(plan.config.algorithm));
  const std::vector<ChipId> members =
      plan::place_ranks(plan.config.algorithm, plan.program.grid(), context);
  Groups groups;
  for (const std::vector<ChipId>& chips : place.members) {
    std::vector<ChipId>& group = groups.emplace_back();
    for (const ChipId member : members) group.push_back(chips[member]);
  }
  return groups;
}

/// Peers by chip, and the ports of a switch, of a channel of the machine.
struct MachineChannel {
  const std::vector<ChipId>* peers = nullptr;
  collectives::Ports ports = collectives::Ports::both;

  bool operator<(const MachineChannel& other) const {
    return std::tie(ports, *peers) < std::tie(other.ports, *other.peers);
  }
};

/// A pair of chips has one route: all of its messages must use the same ports of the switch.
void check_ports(const std::vector<MachineChannel>& channels) {
  std::map<std::pair<ChipId, ChipId>, collectives::Ports> used;
  for (const MachineChannel& channel : channels)
    for (ChipId chip = 0; chip < channel.peers->size(); ++chip) {
      const ChipId peer = (*channel.peers)[chip];
      const auto [known, is_new] = used.try_emplace({chip, peer}, channel.ports);
      if (!is_new && chip != peer && known->second != channel.ports)
        throw input::InputError(
            "/variants",
            "sums in the switch and messages between the same chips cannot be simulated chip by "
            "chip; remove \"simulation\": \"full\" or the faults, or use one algorithm for both");
    }
}

sim::Machine wire_up(const config::ExperimentConfig& experiment,
                     const std::vector<MachineChannel>& channels) {
  plan::MachineContext context(experiment);
  plan::value_or_throw(context.prepare());
  check_ports(channels);
  std::vector<collectives::Channel> ports;
  for (const MachineChannel& channel : channels)
    ports.push_back({.offset = 0, .name = {}, .ports = channel.ports});
  std::vector<ChipId> chips(context.topology().graph.chip_count());
  std::iota(chips.begin(), chips.end(), ChipId{0});
  return plan::wire_up(context, chips, ports, [&](Rank chip, std::size_t channel) {
    return (*channels[channel].peers)[chip];
  });
}

}  // namespace

Placement place(const config::StepConfig& config, const steps::CollectiveCall& call,
                const plan::CollectivePlan& plan) {
  const Groups groups = placed_groups(config, call, plan);
  const std::uint32_t chips = config.mesh.chips();
  const std::vector<collectives::Channel>& channels = plan.program.channels;
  Placement placement{
      .rank_of_chip = std::vector<Rank>(chips),
      .peers = std::vector<std::vector<ChipId>>(channels.size(), std::vector<ChipId>(chips)),
      .ports = {},
      .runs = std::vector<bool>(chips)};
  for (const collectives::Channel& channel : channels) placement.ports.push_back(channel.ports);
  for (std::vector<ChipId>& peers : placement.peers)  // of chips in no group: themselves
    std::iota(peers.begin(), peers.end(), ChipId{0});
  for (const std::vector<ChipId>& group : groups)
    for (Rank rank = 0; rank < group.size(); ++rank) {
      placement.runs[group[rank]] = true;
      placement.rank_of_chip[group[rank]] = rank;
      for (std::size_t channel = 0; channel < channels.size(); ++channel)
        placement.peers[channel][group[rank]] =
            group[plan.program.grid().move(rank, channels[channel].offset)];
    }
  return placement;
}

Placement place(const config::StepConfig& config, const steps::PermuteProgram& permute) {
  const std::uint32_t chips = config.mesh.chips();
  Placement placement{.rank_of_chip = std::vector<Rank>(chips),
                      .peers = {std::vector<ChipId>(chips)},
                      .ports = {collectives::Ports::both}};
  for (std::uint32_t number = 0; number < chips; ++number) {
    const ChipId chip = config.mesh.chip(number);
    placement.rank_of_chip[chip] = permute.rank_of_chip[number];
    placement.peers.front()[chip] = config.mesh.chip(permute.peer_of_chip[number]);
  }
  return placement;
}

PlacedMachine machine_of_all(const config::ExperimentConfig& experiment,
                             std::span<const std::shared_ptr<const Placement>> placements) {
  PlacedMachine placed;
  std::vector<MachineChannel> channels;
  std::map<MachineChannel, collectives::ChannelId> known;
  for (const auto& placement : placements)
    for (std::size_t channel = 0; channel < placement->peers.size(); ++channel) {
      const MachineChannel one{&placement->peers[channel], placement->ports[channel]};
      const auto number = static_cast<collectives::ChannelId>(channels.size());
      const auto [entry, is_new] = known.emplace(one, number);
      if (is_new) channels.push_back(one);
      placed.channels.push_back(entry->second);
    }
  placed.machine = wire_up(experiment, channels);
  return placed;
}

sim::Machine machine_of(const config::ExperimentConfig& experiment, const Placement& placement) {
  std::vector<MachineChannel> channels;
  for (std::size_t channel = 0; channel < placement.peers.size(); ++channel)
    channels.push_back({&placement.peers[channel], placement.ports[channel]});
  return wire_up(experiment, channels);
}

}  // namespace equarx::step
