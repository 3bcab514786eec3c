// Groups of a step's collectives that are tuned together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"

namespace equarx::tune_step {

/// Collectives of one kind in one group of tasks. They share one configuration, whatever their
/// sizes.
struct CollectiveGroup {
  std::string name;  ///< of the group of tasks
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<std::size_t>
      calls;  ///< indices into the configuration's calls, most elements in total first
  std::vector<std::uint32_t> tasks;  ///< number of tasks, by call

  std::uint32_t all_tasks() const;
};

/// Groups in the order of the step.
std::vector<CollectiveGroup> collective_groups(const config::StepConfig& config);

}  // namespace equarx::tune_step
