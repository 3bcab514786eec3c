// Mapping of ranks and channels of step programs to chips.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/plan/plan.hpp"
#include "models/steps/permute_program.hpp"
#include "sim/machine.hpp"
#include "topologies/topology.hpp"

namespace equarx::step {

/// Placement of a program on all chips, in each group separately.
struct Placement {
  std::vector<collectives::Rank> rank_of_chip;
  /// Peer by channel and chip; the chip itself if it sends nothing.
  std::vector<std::vector<topology::ChipId>> peers;
  std::vector<collectives::Ports> ports;  ///< by channel
  std::vector<bool> runs = {};            ///< by chip: true if it runs the program; all if empty
};

/// Places a collective in its groups. @throws input::InputError if it needs a ring that does not
/// exist
Placement place(const config::StepConfig& config, const steps::CollectiveCall& call,
                const plan::CollectivePlan& plan);

/// Places a permute given by mesh chip numbers.
Placement place(const config::StepConfig& config, const steps::PermuteProgram& permute);

/// Machine of all chips of `experiment` for several placements. Channels with equal peers are one.
struct PlacedMachine {
  sim::Machine machine;
  std::vector<collectives::ChannelId> channels;  ///< of the placements, in order: of `machine`
};

/// @throws input::InputError if the chips cannot be simulated individually, or if messages of two
///         placements between the same chips differ in ports
PlacedMachine machine_of_all(const config::ExperimentConfig& experiment,
                             std::span<const std::shared_ptr<const Placement>> placements);

/// Machine of all chips with the channels of one placement.
sim::Machine machine_of(const config::ExperimentConfig& experiment, const Placement& placement);

}  // namespace equarx::step
