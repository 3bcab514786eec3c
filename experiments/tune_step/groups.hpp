// The collectives of a step, as `tune` chooses for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"

namespace equarx::tune_step {

/// Collectives of one kind in one group of tasks: they are carried out alike, however much each of them moves.
struct CollectiveGroup {
  std::string name;  ///< of the group of tasks
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<std::size_t>
      calls;  ///< of the configuration; that which moves the most in all comes first
  std::vector<std::uint32_t> tasks;  ///< by call: how often the step does it

  std::uint32_t all_tasks() const;
};

/// In the order in which the step has them.
std::vector<CollectiveGroup> collective_groups(const config::StepConfig& config);

}  // namespace equarx::tune_step
