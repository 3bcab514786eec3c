#include "experiments/config/step.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {

namespace {

/// Index of a permute with the same messages.
std::optional<std::size_t> index_of(steps::Permute permute,
                                    const std::vector<steps::Permute>& permutes) {
  permute.waits = true;
  const auto found = std::ranges::find(permutes, permute);
  if (found == permutes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - permutes.begin());
}

}  // namespace

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
  for (const steps::Task& task : graph.tasks) {
    const auto* call = std::get_if<steps::CollectiveCall>(&task.work);
    if (call == nullptr) continue;
    const StepCall of_group{task.group, *call};
    if (std::ranges::find(calls, of_group) == calls.end()) calls.push_back(of_group);
  }
  return calls;
}

std::vector<steps::Permute> distinct_permutes(const steps::StepGraph& graph) {
  std::vector<steps::Permute> permutes;
  for (const steps::Task& task : graph.tasks) {
    const auto* permute = std::get_if<steps::Permute>(&task.work);
    if (permute == nullptr || index_of(*permute, permutes)) continue;
    permutes.push_back(*permute);
    permutes.back().waits = true;
  }
  return permutes;
}

std::optional<std::size_t> permute_of(const steps::Task& task,
                                      const std::vector<steps::Permute>& permutes) {
  const auto* permute = std::get_if<steps::Permute>(&task.work);
  return permute == nullptr ? std::nullopt : index_of(*permute, permutes);
}

std::optional<std::size_t> call_of(const steps::Task& task, const std::vector<StepCall>& calls) {
  const auto* call = std::get_if<steps::CollectiveCall>(&task.work);
  if (call == nullptr) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(calls, StepCall{task.group, *call}) -
                                  calls.begin());
}

std::vector<std::uint32_t> tasks_of_calls(const StepConfig& config) {
  std::vector<std::uint32_t> tasks(config.calls.size());
  for (const steps::Task& task : config.graph.tasks)
    if (const auto call = call_of(task, config.calls)) ++tasks[*call];
  return tasks;
}

}  // namespace equarx::config
