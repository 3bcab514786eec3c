#include "experiments/tune_step/groups.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace equarx::tune_step {

std::uint32_t CollectiveGroup::all_tasks() const {
  return std::accumulate(tasks.begin(), tasks.end(), 0U);
}

std::vector<CollectiveGroup> collective_groups(const config::StepConfig& config) {
  const std::vector<std::uint32_t> tasks = config::tasks_of_calls(config);
  std::vector<CollectiveGroup> groups;
  for (std::size_t call = 0; call < config.calls.size(); ++call) {
    const config::StepCall& of = config.calls[call];
    auto group = std::ranges::find_if(groups, [&](const CollectiveGroup& one) {
      return one.name == of.group && one.collective == of.call.collective;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {of.group, of.call.collective, {}, {}});
    group->calls.push_back(call);
  }
  for (CollectiveGroup& group : groups) {
    std::ranges::sort(group.calls, std::greater(), [&](std::size_t call) {
      return config.calls[call].call.elements * tasks[call];
    });
    for (const std::size_t call : group.calls) group.tasks.push_back(tasks[call]);
  }
  return groups;
}

}  // namespace equarx::tune_step
