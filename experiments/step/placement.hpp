// Which chip of the machine is which rank of a step's programs, and whom it sends to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/plan/plan.hpp"
#include "models/steps/permute_program.hpp"
#include "sim/machine.hpp"
#include "topologies/topology.hpp"

namespace equarx::step {

/// A program on all chips, in each group by itself.
struct Placement {
  std::vector<collectives::Rank> rank_of_chip;
  /// By channel and chip; the chip itself where it sends nothing.
  std::vector<std::vector<topology::ChipId>> peers;
};

/// A collective in its groups. @throws input::InputError if there is no ring to place them on
Placement place(const config::StepConfig& config, const steps::CollectiveCall& call,
                const plan::CollectivePlan& plan);

/// A permute. `of_numbers`: on chips as the mesh numbers them
Placement place(const config::StepConfig& config, const steps::PermuteProgram& of_numbers);

/// All chips, with the channels of all placements, one placement after the other.
/// @throws input::InputError if the chips cannot be simulated one by one
sim::Machine machine_of_all(const config::StepConfig& config,
                            std::span<const Placement> placements);

}  // namespace equarx::step
