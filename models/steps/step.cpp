#include "models/steps/step.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/steps/task_order.hpp"

namespace equarx::steps {
namespace {

void check_names(const StepGraph& graph) {
  std::map<std::string_view, TaskId> names;
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const Task& task = graph.tasks[id];
    if (!names.emplace(task.name, id).second)
      throw StepError(
          id, fmt::format("duplicate task name '{}'; task names must be unique", task.name));
    if (task.stream >= graph.streams.size())
      throw StepError(id, fmt::format("'{}' refers to an unknown stream", task.name));
    for (const TaskId before : task.after)
      if (before >= graph.tasks.size())
        throw StepError(id, fmt::format("'{}' waits for an unknown task", task.name));
  }
}

/// Checks that each permute that does not wait has one Receive.
void check_receives(const StepGraph& graph) {
  std::map<TaskId, TaskId> receives;  // by permute
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const auto* receive = std::get_if<Receive>(&graph.tasks[id].work);
    if (receive == nullptr) continue;
    const std::string& name = graph.tasks[id].name;
    if (receive->permute >= graph.tasks.size())
      throw StepError(id, fmt::format("'{}' receives from an unknown task", name));
    const Task& from = graph.tasks[receive->permute];
    const auto* permute = std::get_if<Permute>(&from.work);
    if (permute == nullptr || permute->waits)
      throw StepError(id, fmt::format("'{}' receives from '{}', which is no permute with "
                                      "\"wait\": false",
                                      name, from.name));
    const auto [known, is_new] = receives.emplace(receive->permute, id);
    if (!is_new)
      throw StepError(id,
                      fmt::format("'{}' and '{}' both receive from '{}'; one receives all of its "
                                  "messages",
                                  graph.tasks[known->second].name, name, from.name));
  }
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const auto* permute = std::get_if<Permute>(&graph.tasks[id].work);
    if (permute != nullptr && !permute->waits && !receives.contains(id))
      throw StepError(id, fmt::format("'{0}' does not wait, and no task receives its messages; add "
                                      "one with \"receive\": \"{0}\"",
                                      graph.tasks[id].name));
  }
}

/// Returns a cycle among the tasks missing from `order`: each waits for the next, the last for the
/// first.
std::vector<TaskId> find_cycle(const std::vector<std::vector<TaskId>>& predecessors,
                               const std::vector<TaskId>& order) {
  std::vector<bool> stuck(predecessors.size(), true);
  for (const TaskId id : order) stuck[id] = false;
  const auto first = static_cast<TaskId>(std::ranges::find(stuck, true) - stuck.begin());
  // Every stuck task waits for another stuck one, so walking backwards must revisit a task.
  std::vector<TaskId> path;
  TaskId at = first;
  for (;;) {
    const auto seen = std::ranges::find(path, at);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(at);
    at = *std::ranges::find_if(predecessors[at], [&](TaskId before) { return stuck[before]; });
  }
}

std::string cycle_text(const StepGraph& graph, const std::vector<TaskId>& cycle) {
  constexpr std::size_t kShown = 8;
  std::string text = fmt::format("'{}' waits for itself: ", graph.tasks[cycle.front()].name);
  for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i)
    text += fmt::format("'{}' waits for ", graph.tasks[cycle[i]].name);
  if (cycle.size() > kShown)
    text += fmt::format("{} more, and the last for ", cycle.size() - kShown);
  return text + fmt::format("'{}' (tasks of a stream also wait for the tasks listed before them)",
                            graph.tasks[cycle.front()].name);
}

}  // namespace

StreamId stream_id(StepGraph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.streams, name);
  const auto id = static_cast<StreamId>(found - graph.streams.begin());
  if (found == graph.streams.end()) graph.streams.push_back(name);
  return id;
}

void validate(const StepGraph& graph) {
  if (graph.tasks.empty() || graph.streams.empty())
    throw std::logic_error("a step needs at least one task and one stream");
  check_names(graph);
  check_receives(graph);
  std::vector<std::vector<TaskId>> before = predecessors(graph);
  for (TaskId id = 0; id < graph.tasks.size(); ++id)
    if (const auto* receive = std::get_if<Receive>(&graph.tasks[id].work))
      before[id].push_back(receive->permute);
  const std::vector<TaskId> order = topological_order(before);
  if (order.size() == graph.tasks.size()) return;
  const std::vector<TaskId> cycle = find_cycle(before, order);
  throw StepError(cycle.front(), cycle_text(graph, cycle));
}

std::vector<TaskId> critical_path(const StepGraph& graph, const std::vector<TaskTime>& times) {
  const auto ends_first = [&](TaskId one, TaskId other) {
    return times[one].end_s < times[other].end_s;
  };
  const std::vector<std::vector<TaskId>> before = predecessors(graph);
  TaskId at = 0;
  for (TaskId id = 1; id < graph.tasks.size(); ++id)
    if (ends_first(at, id)) at = id;
  std::vector<TaskId> path = {at};
  while (!before[at].empty()) {
    at = *std::ranges::max_element(before[at], ends_first);
    path.push_back(at);
  }
  std::ranges::reverse(path);
  return path;
}

double longest_path_s(const StepGraph& graph, const std::vector<double>& seconds,
                      const std::vector<bool>& runs) {
  return longest_path_s(task_order(graph), seconds, runs);
}

}  // namespace equarx::steps
