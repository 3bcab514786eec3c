// Roles of chips: the tasks that each chip of a step runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Returns the chips that run a task by its lists, ascending, in numbers of the mesh: the chips of
/// Task::chips or listed groups, the senders and receivers of a permute that waits, the senders of
/// one that does not, the receivers of a Receive. std::nullopt if the task has no lists: all chips.
std::optional<std::vector<std::uint32_t>> listed_chips(const StepGraph& graph, const Task& task);

/// Returns why the chips of `task`, if it has Task::chips, are invalid, or an empty string.
std::string chips_error(const StepGraph& graph, const Task& task, const Mesh& mesh);

/// The chips of a mesh with the tasks that they run. Chips are numbered as in Mesh::chip().
class Roles {
 public:
  Roles(const StepGraph& graph, std::uint32_t chips);

  /// True if a chip skips a task.
  bool differ() const { return !sets_.empty(); }
  /// Index into sets() of the chips that run a task; std::nullopt if all do.
  std::optional<std::uint32_t> set_of(TaskId task) const { return set_of_[task]; }
  /// Distinct sets, by chip: true if it belongs to the set.
  const std::vector<std::vector<bool>>& sets() const { return sets_; }
  bool runs(std::uint32_t chip, TaskId task) const {
    return !set_of_[task] || sets_[*set_of_[task]][chip];
  }
  /// Share of the chips that run a task.
  double share_of(TaskId task) const {
    return set_of_[task] ? static_cast<double>(sizes_[*set_of_[task]]) / chips_ : 1.0;
  }
  /// The first chip of each role: of the chips that run the same tasks.
  std::vector<std::uint32_t> representatives() const;
  /// By task, true if a chip runs it.
  std::vector<bool> tasks_of(std::uint32_t chip) const;

 private:
  std::uint32_t chips_;
  std::vector<std::optional<std::uint32_t>> set_of_;  ///< by task
  std::vector<std::vector<bool>> sets_;
  std::vector<std::size_t> sizes_;  ///< of sets
};

/// Lower bound of the step time on every chip: the longest path through the tasks of one chip, if
/// task i takes at least `seconds[i]` on the chips that run it.
double longest_path_s(const StepGraph& graph, const Roles& roles,
                      const std::vector<double>& seconds);

/// The largest sum of `seconds`, by task, over the tasks of one chip.
double busiest_s(const Roles& roles, const std::vector<double>& seconds);

}  // namespace equarx::steps
