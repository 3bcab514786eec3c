// Tasks of the passes of one layer, with the communication of tensor and context parallelism.
#pragma once

#include <string>
#include <vector>

#include "models/steps/context_tasks.hpp"
#include "models/steps/training_tasks.hpp"

namespace equarx::steps {

/// Direction of a pass.
enum class Pass : bool { forward, backward };

/// Writes the tasks of a layer's passes.
class LayerTasks {
 public:
  /// Both must outlive this object.
  LayerTasks(const TrainingPlan& plan, TaskWriter& tasks);

  /// A pass of a layer: two halves, each followed by the communication of tensor parallelism.
  TaskId pass(Pass which, const std::string& name, const LayerWork& work, TaskIds after);

  /// Recomputes activations that were not kept and, with sequence parallelism, gathers the inputs
  /// of both halves, as each chip kept only its positions (Korthikanti et al., arXiv 2205.05198,
  /// section 4.2.2). `name`: of the recomputation, `pass`: of the backward pass, `early`: task after
  /// which there is room. Returns the dependencies of the backward pass.
  TaskIds prepare_backward(const std::string& name, const std::string& pass, const LayerWork& work,
                           TaskIds after, TaskId early);

  /// Returns the recompute task, or `after` if nothing is recomputed.
  TaskIds recompute(const std::string& name, const std::vector<workloads::Operation>& operations,
                    TaskIds after);

 private:
  TaskId sum_parts(const std::string& half, TaskId made);
  TaskId activations(const std::string& name, const std::string& group, const std::string& on,
                     collectives::Collective collective, TaskIds after);
  TaskId gather_input(const std::string& half, TaskId early);

  const TrainingPlan& plan_;
  TaskWriter& tasks_;
  ContextTasks context_;
};

}  // namespace equarx::steps
