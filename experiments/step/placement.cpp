#include "experiments/step/placement.hpp"

#include <cstdint>
#include <numeric>
#include <utility>

#include "experiments/plan/placement.hpp"

namespace equarx::step {
namespace {

using collectives::Rank;
using topology::ChipId;

/// Coordinates of the chips of a machine, the last axis fastest.
class Coordinates {
 public:
  explicit Coordinates(std::vector<std::uint32_t> lengths)
      : lengths_(std::move(lengths)), strides_(lengths_.size(), 1) {
    for (std::size_t axis = lengths_.size(); axis-- > 1;)
      strides_[axis - 1] = strides_[axis] * lengths_[axis];
  }

  /// Chip number within its group, as on a machine that has these axes only.
  ChipId within(ChipId chip, const std::vector<std::size_t>& axes) const {
    ChipId member = 0;
    for (const std::size_t axis : axes) member = member * lengths_[axis] + coordinate(chip, axis);
    return member;
  }
  /// Chip of the same group with number `member`.
  ChipId at(ChipId chip, const std::vector<std::size_t>& axes, ChipId member) const {
    for (std::size_t i = axes.size(); i-- > 0;) {
      const std::size_t axis = axes[i];
      chip += (member % lengths_[axis]) * strides_[axis] - coordinate(chip, axis) * strides_[axis];
      member /= lengths_[axis];
    }
    return chip;
  }

 private:
  std::uint32_t coordinate(ChipId chip, std::size_t axis) const {
    return chip / strides_[axis] % lengths_[axis];
  }

  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> strides_;
};

std::vector<ChipId> all_chips(const config::StepConfig& config) {
  std::vector<ChipId> chips(config.mesh.chips());
  std::iota(chips.begin(), chips.end(), ChipId{0});
  return chips;
}

/// Groups, each in rank order.
using Groups = std::vector<std::vector<ChipId>>;

/// Places the ranks of each group as on a machine that consists of this group.
Groups groups_along_axes(const config::StepConfig& config, const steps::CollectiveCall& call,
                         const plan::CollectivePlan& plan) {
  const std::vector<std::size_t> axes = config.mesh.machine_axes(call.axes);
  config::ExperimentConfig experiment = config.machine;
  experiment.topology = config::group_topology(config.machine.topology, config.mesh, call);
  plan::MachineContext context(experiment);
  plan::value_or_throw(context.prepare(plan.config.algorithm));
  const std::vector<ChipId> members =
      plan::place_ranks(plan.config.algorithm, plan.program.grid(), context);
  const Coordinates chips(config.mesh.machine);
  Groups groups;
  for (const ChipId chip : all_chips(config)) {
    if (chips.within(chip, axes) != 0) continue;  // not the first chip of its group
    std::vector<ChipId>& group = groups.emplace_back();
    for (const ChipId member : members) group.push_back(chips.at(chip, axes, member));
  }
  return groups;
}

Groups listed_groups(const config::StepConfig& config, const steps::ListedGroups& listed) {
  Groups groups;
  for (const std::vector<std::uint32_t>& list : config.graph.chip_lists[listed.lists].lists) {
    std::vector<ChipId>& group = groups.emplace_back();
    for (const std::uint32_t number : list) group.push_back(config.mesh.chip(number));
  }
  return groups;
}

}  // namespace

Placement place(const config::StepConfig& config, const steps::CollectiveCall& call,
                const plan::CollectivePlan& plan) {
  const Groups groups =
      call.groups ? listed_groups(config, *call.groups) : groups_along_axes(config, call, plan);
  const std::uint32_t chips = config.mesh.chips();
  const std::vector<collectives::Channel>& channels = plan.program.channels;
  Placement placement{
      .rank_of_chip = std::vector<Rank>(chips),
      .peers = std::vector<std::vector<ChipId>>(channels.size(), std::vector<ChipId>(chips))};
  for (const std::vector<ChipId>& group : groups)
    for (Rank rank = 0; rank < group.size(); ++rank) {
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
                      .peers = {std::vector<ChipId>(chips)}};
  for (std::uint32_t number = 0; number < chips; ++number) {
    const ChipId chip = config.mesh.chip(number);
    placement.rank_of_chip[chip] = permute.rank_of_chip[number];
    placement.peers.front()[chip] = config.mesh.chip(permute.peer_of_chip[number]);
  }
  return placement;
}

sim::Machine machine_of_all(const config::StepConfig& config,
                            std::span<const Placement> placements) {
  plan::MachineContext context(config.machine);
  plan::value_or_throw(context.prepare());
  std::vector<const std::vector<ChipId>*> peers_of;
  for (const Placement& placement : placements)
    for (const std::vector<ChipId>& peers : placement.peers) peers_of.push_back(&peers);
  const std::vector<collectives::Channel> channels(peers_of.size());
  return plan::wire_up(context, all_chips(config), channels,
                       [&](Rank chip, std::size_t channel) { return (*peers_of[channel])[chip]; });
}

}  // namespace equarx::step
