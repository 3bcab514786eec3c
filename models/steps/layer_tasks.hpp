// Tasks of the passes of one layer, with the communication of tensor, context and expert parallelism.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/steps/context_tasks.hpp"
#include "models/steps/expert_tasks.hpp"
#include "models/steps/training_tasks.hpp"

namespace equarx::steps {

/// Direction of a pass.
enum class Pass : bool { forward, backward };

/// Writes the tasks of a layer's passes.
class LayerTasks {
 public:
  /// Both must outlive this object.
  LayerTasks(const TrainingPlan& plan, TaskWriter& tasks);

  /// Adds the tasks of a part of a pass after given tasks. Returns the tasks that end it, the last
  /// one first.
  using Part = std::function<TaskIds(TaskIds)>;

  /// Number of parts of a pass. Layers that exchange rows of experts have three: each of the first two
  /// ends with an exchange, so that other work can be written during it.
  std::size_t parts(workloads::LayerKind kind) const;

  /// Parts of a pass: two halves, each followed by the communication of tensor parallelism.
  std::vector<Part> pass(Pass which, const std::string& name, const LayerWork& work);

  /// Recomputes activations that were not kept and, with sequence parallelism, gathers the inputs
  /// of both halves, as each chip kept only its positions (Korthikanti et al., arXiv 2205.05198,
  /// section 4.2.2). `name`: of the recomputation, `pass`: of the backward pass, `early`: task after
  /// which there is room. Returns the dependencies of the backward pass.
  TaskIds prepare_backward(const std::string& name, const std::string& pass,
                           workloads::LayerKind kind, const LayerWork& work, TaskIds after,
                           TaskId early);

  /// Returns the recompute task, or `after` if nothing is recomputed.
  TaskIds recompute(const std::string& name, const std::vector<workloads::Operation>& operations,
                    TaskIds after);

 private:
  struct Labels;

  TaskId whole_pass(const Labels& labels, const LayerWork& work, TaskIds after);
  TaskId half(const Labels& labels, bool ffn, const Operations& operations, TaskIds after);
  /// The work before the dispatch, and after the combine.
  TaskId before_experts(const Labels& labels, const LayerWork& work, TaskIds after);
  TaskId after_experts(const Labels& labels, const LayerWork& work, TaskIds after);
  TaskId sum_of_experts(const Labels& labels, const Operations& operations, TaskIds after);
  TaskId sum_unless_scattered(const Labels& labels, TaskId made);
  TaskIds recompute_experts(const std::string& name, const LayerWork& work, TaskIds after);
  bool recomputes_result() const;
  TaskId sum_parts(const std::string& half, TaskId made);
  TaskId activations(const std::string& name, const std::string& group, const std::string& on,
                     collectives::Collective collective, TaskIds after);
  TaskId gather_input(const std::string& half, TaskId early);

  const TrainingPlan& plan_;
  TaskWriter& tasks_;
  ContextTasks context_;
  ExpertTasks experts_;
};

}  // namespace equarx::steps
