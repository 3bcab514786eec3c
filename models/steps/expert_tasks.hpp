// Tasks of experts that are divided over the mesh axis "expert".
#pragma once

#include <string>

#include "models/steps/training_tasks.hpp"

namespace equarx::steps {

/// A pass of the experts of a layer.
struct ExpertPass {
  std::string name;
  std::string group;
  ModelFlops model = ModelFlops::none;
  bool backward = false;
};

/// Exchanges rows of experts: a dispatch to the chips of the experts, and a combine of their results.
/// In the backward pass gradients of results are dispatched, and gradients of rows combined. With
/// sequence parallelism each chip of a tensor group sends rows of its positions; the group gathers
/// them before its experts, and scatters the results (Megatron-LM, MoEAlltoAllTokenDispatcher).
class ExpertTasks {
 public:
  /// Both must outlive this object.
  ExpertTasks(const TrainingPlan& plan, TaskWriter& tasks);

  /// True if a layer of this kind exchanges rows.
  bool exchanges(workloads::LayerKind kind) const;

  TaskId dispatch(const ExpertPass& pass, TaskId made);

  /// Adds the experts and the combine, and during the dispatch the shared experts. `made`: task before
  /// the dispatch, `sent`: the dispatch. Returns the last tasks of both.
  TaskIds run(const ExpertPass& pass, const LayerWork& work, TaskId made, TaskId sent);

  /// Results of chips of a tensor group are scattered, not added up, after their experts.
  bool scatters() const;

 private:
  TaskId exchange(const std::string& what, const ExpertPass& pass, TaskId made);
  TaskId shared(const ExpertPass& pass, const Operations& operations, TaskId made);
  TaskId over_tensor(const std::string& name, const std::string& group,
                     collectives::Collective collective, double rows, TaskId after);

  const TrainingPlan& plan_;
  TaskWriter& tasks_;
  double sent_rows_ = 0.0;  ///< of a chip
};

}  // namespace equarx::steps
