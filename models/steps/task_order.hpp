// Dependencies of the tasks of a step, and an order that keeps them.
#pragma once

#include <vector>

#include "models/steps/step.hpp"

namespace equarx::steps {

/// Predecessors of tasks, and tasks after all of theirs.
struct TaskOrder {
  std::vector<std::vector<TaskId>> before;  ///< by task, ascending
  std::vector<TaskId> order;                ///< without the tasks on or after a cycle
};

/// Order by predecessors().
TaskOrder task_order(const StepGraph& graph);

/// A topological order; tasks on or after a cycle are left out.
std::vector<TaskId> topological_order(const std::vector<std::vector<TaskId>>& predecessors);

/// As longest_path_s() of the graph.
double longest_path_s(const TaskOrder& tasks, const std::vector<double>& seconds,
                      const std::vector<bool>& runs);

}  // namespace equarx::steps
