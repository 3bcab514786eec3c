// Tasks of attention whose positions are divided over the mesh axis "context".
#pragma once

#include <string>
#include <vector>

#include "models/steps/training_tasks.hpp"

namespace equarx::steps {

/// A pass, or half of one, with or without attention.
struct AttentionPass {
  std::string name;
  std::string group;
  ModelFlops model = ModelFlops::none;
  bool backward = false;
};

/// Divides a pass around its attention:
/// - ring: as many blocks of keys as chips. Each travels on to the next chip while it is used, and in
///   the backward pass its gradients follow, one step more, to the chip that has the keys.
/// - all-gather: keys and values are gathered before, and their gradients scattered after.
/// - all-to-all: queries, keys and values are exchanged before and results after; in the backward
///   pass the gradient of the results before, and the other gradients after.
class ContextTasks {
 public:
  /// Both must outlive this object.
  ContextTasks(const TrainingPlan& plan, TaskWriter& tasks);

  /// Adds the tasks of a pass and returns the last.
  TaskId run(const AttentionPass& pass, const std::vector<workloads::Operation>& operations,
             TaskIds after);

 private:
  /// Attention and its communication. `ready`: tasks that it waits for.
  TaskId attend(const AttentionPass& pass, const Operations& attention, const TaskIds& ready,
                const TaskIds& start);
  TaskId ring(const AttentionPass& pass, const Operations& attention, const TaskIds& ready);
  TaskId ring_backward(const AttentionPass& pass, const Operations& attention,
                       const TaskIds& ready);
  /// `start`: tasks that the whole pass waits for
  TaskId gathered(const AttentionPass& pass, const Operations& attention, const TaskIds& ready,
                  const TaskIds& start);
  TaskId exchanged(const AttentionPass& pass, const Operations& attention, const TaskIds& ready);
  /// Exchanges queries, keys and values, or their gradients. Returns the last task.
  TaskId exchange_inputs(const AttentionPass& pass, const TaskIds& ready);
  TaskId exchange(const std::string& what, const AttentionPass& pass, double elements,
                  const TaskIds& ready);
  TaskId hop(const std::string& what, std::uint32_t number, const AttentionPass& pass,
             TaskIds after);
  bool recomputes_inputs(const Operations& operations) const;
  Operations block_of(const Operations& attention) const;

  const TrainingPlan& plan_;
  TaskWriter& tasks_;
  double queries_;  ///< elements on a chip
  double keys_;     ///< elements on a chip, without values
};

}  // namespace equarx::steps
