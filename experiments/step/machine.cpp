#include "experiments/step/machine.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "experiments/plan/placement.hpp"
#include "experiments/step/group.hpp"
#include "sim/symmetry.hpp"

namespace equarx::step {
namespace {

using collectives::Rank;
using topology::ChipId;

/// Chips of a machine by their place along its axes, the last axis fastest.
class Coordinates {
 public:
  explicit Coordinates(std::vector<std::uint32_t> lengths)
      : lengths_(std::move(lengths)), strides_(lengths_.size(), 1) {
    for (std::size_t axis = lengths_.size(); axis-- > 1;)
      strides_[axis - 1] = strides_[axis] * lengths_[axis];
  }

  std::uint32_t chips() const { return lengths_.front() * strides_.front(); }

  /// The place of a chip within its group, as a chip of a machine that has these axes only.
  ChipId within(ChipId chip, const std::vector<std::size_t>& axes) const {
    ChipId place = 0;
    for (const std::size_t axis : axes) place = place * lengths_[axis] + along(chip, axis);
    return place;
  }
  /// The chip of the same group at another place.
  ChipId at(ChipId chip, const std::vector<std::size_t>& axes, ChipId place) const {
    for (std::size_t i = axes.size(); i-- > 0;) {
      const std::size_t axis = axes[i];
      chip += (place % lengths_[axis]) * strides_[axis] - along(chip, axis) * strides_[axis];
      place /= lengths_[axis];
    }
    return chip;
  }

 private:
  std::uint32_t along(ChipId chip, std::size_t axis) const {
    return chip / strides_[axis] % lengths_[axis];
  }

  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> strides_;
};

/// A program of a variant, and where its groups lie.
struct Program {
  const plan::CollectivePlan& plan;
  std::vector<std::size_t> axes;  ///< of the machine
};

std::vector<Program> programs_of(const config::StepConfig& config, const VariantPlan& variant) {
  std::vector<Program> programs;
  for (const std::size_t call : variant.call_of_program)
    programs.push_back(
        {variant.calls[call]->plan, config.mesh.machine_axes(config.calls[call].call.axes)});
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

/// Why a few chips cannot stand for all; empty if they can.
std::string asymmetry(const config::StepConfig& config, const std::vector<Program>& programs) {
  if (config.machine.simulation == config::SimulationMode::full) return "asked for";
  if (!config.machine.faults.empty()) return "some links or chips are not as the others";
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
void add_representatives(const config::StepConfig& config, const std::vector<Program>& programs,
                         VariantPlan& variant) {
  constexpr int kOffsetBits = 32;
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

/// By chip, its rank in the group that it is in.
std::vector<Rank> ranks_of_chips(const Coordinates& chips, const Program& program,
                                 const std::vector<ChipId>& places) {
  std::vector<Rank> rank_at(places.size());
  for (Rank rank = 0; rank < places.size(); ++rank) rank_at[places[rank]] = rank;
  std::vector<Rank> ranks;
  for (ChipId chip = 0; chip < chips.chips(); ++chip)
    ranks.push_back(rank_at[chips.within(chip, program.axes)]);
  return ranks;
}

void add_all_chips(const config::StepConfig& config, const std::vector<Program>& programs,
                   VariantPlan& variant) {
  plan::Site site(config.machine);
  if (const auto obstacle = site.prepare()) throw obstacle->error();
  const Coordinates chips(config.mesh.machine);
  /// What a channel of the machine is: one of a program.
  struct Channel {
    std::size_t program = 0;
    collectives::Offset offset = 0;
  };
  std::vector<Channel> channels;
  std::vector<std::vector<ChipId>> places;  // by program and rank
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Program& program = programs[i];
    places.push_back(places_in_group(config, program.axes, program.plan));
    variant.work.programs[i].rank_of_chip = ranks_of_chips(chips, program, places.back());
    for (const collectives::Channel& channel : program.plan.program.channels)
      channels.push_back({i, channel.offset});
  }
  const auto peer_of = [&](Rank chip, std::size_t channel) {
    const auto& [number, offset] = channels[channel];
    const Rank rank = variant.work.programs[number].rank_of_chip[chip];
    const Rank peer = programs[number].plan.program.grid().move(rank, offset);
    return chips.at(chip, programs[number].axes, places[number][peer]);
  };
  std::vector<ChipId> all(chips.chips());
  std::iota(all.begin(), all.end(), ChipId{0});
  variant.machine = plan::wire_up(site, all, channels.size(), peer_of);
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
  add_all_chips(config, programs, variant);
}

}  // namespace equarx::step
