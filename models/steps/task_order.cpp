#include "models/steps/task_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "models/steps/roles.hpp"

namespace equarx::steps {
namespace {

/// Chips of a task; std::nullopt for all.
using SomeChips = std::optional<std::vector<std::uint32_t>>;

/// Numbers of distinct sets of chips, and how these relate.
class ChipSets {
 public:
  struct Relation {
    bool overlap = false;
    bool includes = false;  ///< the first set has all chips of the second
  };

  std::uint32_t number(SomeChips chips) {
    const auto next = static_cast<std::uint32_t>(sets_.size());
    const auto [entry, is_new] = numbers_.emplace(std::move(chips), next);
    if (is_new) sets_.push_back(&entry->first);
    return entry->second;
  }

  Relation relation(std::uint32_t one, std::uint32_t other) {
    const auto [entry, is_new] = relations_.try_emplace(std::uint64_t{one} << 32U | other);
    if (is_new)
      entry->second = {overlap(*sets_[one], *sets_[other]), includes(*sets_[one], *sets_[other])};
    return entry->second;
  }

 private:
  static bool overlap(const SomeChips& one, const SomeChips& other) {
    if (!one || !other) return true;
    return std::ranges::any_of(
        *one, [&](std::uint32_t chip) { return std::ranges::binary_search(*other, chip); });
  }
  static bool includes(const SomeChips& all, const SomeChips& some) {
    return !all || (some && std::ranges::includes(*all, *some));
  }

  std::map<SomeChips, std::uint32_t> numbers_;
  std::vector<const SomeChips*> sets_;  ///< by number
  std::unordered_map<std::uint64_t, Relation> relations_;
};

/// The latest tasks of a stream: by distinct chips, none if a later one has all of them.
class Latest {
 public:
  /// Adds the preceding tasks on the chips of a task to `before`, and the task to the latest.
  void add(TaskId id, std::uint32_t chips, ChipSets& sets, std::vector<TaskId>& before) {
    for (const auto& [task, of] : tasks_)
      if (sets.relation(chips, of).overlap) before.push_back(task);
    std::erase_if(tasks_,
                  [&](const auto& one) { return sets.relation(chips, one.second).includes; });
    tasks_.emplace_back(id, chips);
  }

 private:
  std::vector<std::pair<TaskId, std::uint32_t>> tasks_;  ///< with the number of their chips
};

}  // namespace

std::vector<std::vector<TaskId>> predecessors(const StepGraph& graph) {
  ChipSets sets;
  std::vector<Latest> in_stream(graph.streams.size());
  std::vector<std::vector<TaskId>> all;
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const Task& task = graph.tasks[id];
    std::vector<TaskId>& before = all.emplace_back(task.after);
    in_stream[task.stream].add(id, sets.number(listed_chips(graph, task)), sets, before);
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
  return all;
}

std::vector<TaskId> topological_order(const std::vector<std::vector<TaskId>>& predecessors) {
  std::vector<std::vector<TaskId>> successors(predecessors.size());
  std::vector<std::size_t> waits_for(predecessors.size());
  for (TaskId id = 0; id < predecessors.size(); ++id) {
    waits_for[id] = predecessors[id].size();
    for (const TaskId before : predecessors[id]) successors[before].push_back(id);
  }
  std::vector<TaskId> order;
  for (TaskId id = 0; id < predecessors.size(); ++id)
    if (waits_for[id] == 0) order.push_back(id);
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const TaskId after : successors[order[next]])
      if (--waits_for[after] == 0) order.push_back(after);
  return order;
}

TaskOrder task_order(const StepGraph& graph) {
  TaskOrder tasks{predecessors(graph), {}};
  tasks.order = topological_order(tasks.before);
  return tasks;
}

double longest_path_s(const TaskOrder& tasks, const std::vector<double>& seconds,
                      const std::vector<bool>& runs) {
  std::vector<double> end_s(tasks.before.size());
  double longest_s = 0.0;
  for (const TaskId id : tasks.order) {
    if (!runs.empty() && !runs[id]) continue;
    double start_s = 0.0;
    for (const TaskId other : tasks.before[id]) start_s = std::max(start_s, end_s[other]);
    end_s[id] = start_s + seconds[id];
    longest_s = std::max(longest_s, end_s[id]);
  }
  return longest_s;
}

}  // namespace equarx::steps
