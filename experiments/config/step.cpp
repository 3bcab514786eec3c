#include "experiments/config/step.hpp"

#include <array>
#include <variant>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/task_index.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {

Algorithm usual_algorithm(collectives::Collective collective, const TopologyConfig& group) {
  constexpr std::array kPreferred = {"hierarchical", "hierarchical-two-shot", "torus", "two-shot",
                                     "direct"};
  const bool on_levels = group.network && count_chips_of_slice(group) > 1;
  for (const char* const name : kPreferred) {
    const Algorithm algorithm = collectives::find_algorithm(name);
    const collectives::RankLayout layout = algorithm->layout;
    if (!algorithm->does(collective)) continue;
    if (collectives::is_of_slices(layout) != on_levels) continue;
    const bool on_axes = layout == collectives::RankLayout::grid ||
                         layout == collectives::RankLayout::slices_of_grids;
    if (on_axes && (!is_grid(group) || count_chips_of_slice(group) == 1)) continue;
    return algorithm;
  }
  // direct exchange between all chips, across a network as well
  return collectives::find_algorithm("direct");
}

std::vector<StepCall> distinct_calls(const steps::StepGraph& graph) {
  std::vector<StepCall> calls;
  TaskIndex index;
  for (const steps::Task& task : graph.tasks)
    if (index.add_call(task) == calls.size())
      calls.push_back({task.group, std::get<steps::CollectiveCall>(task.work)});
  return calls;
}

std::vector<steps::Permute> distinct_permutes(const steps::StepGraph& graph) {
  std::vector<steps::Permute> permutes;
  TaskIndex index;
  for (const steps::Task& task : graph.tasks) {
    if (index.add_permute(task) != permutes.size()) continue;
    permutes.push_back(std::get<steps::Permute>(task.work));
    permutes.back().waits = true;
  }
  return permutes;
}

std::vector<std::uint32_t> tasks_of_calls(const StepConfig& config) {
  std::vector<std::uint32_t> tasks(config.calls.size());
  const TaskIndex index(config);
  for (const steps::Task& task : config.graph.tasks)
    if (const auto call = index.call_of(task)) ++tasks[*call];
  return tasks;
}

}  // namespace equarx::config
