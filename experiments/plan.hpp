// From what the user asks for to what the executors run.
#pragma once

#include <optional>
#include <vector>

#include "experiments/config.hpp"
#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/timeline.hpp"

namespace equarx::experiments {

/// One collective, ready to run.
struct CollectivePlan {
  CollectiveConfig config;  ///< with minishards and microshards filled in
  collectives::Program program;
  sim::Costs costs;
};

struct Plan {
  ExperimentConfig config;                     ///< with every default filled in
  sim::Machine machine;                        ///< ranks placed along a ring through all chips
  std::optional<sim::Machine> representative;  ///< what is simulated instead of it, if asked for
  std::vector<CollectivePlan> collectives;
};

/// Builds the machine and the programs, and checks that the tensor fits the chips and this computer.
/// @throws InputError
Plan make_plan(const ExperimentConfig& config);

}  // namespace equarx::experiments
