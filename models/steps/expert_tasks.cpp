#include "models/steps/expert_tasks.hpp"

#include <utility>

namespace equarx::steps {

using collectives::Collective;

ExpertTasks::ExpertTasks(const TrainingPlan& plan, TaskWriter& tasks) : plan_(plan), tasks_(tasks) {
  if (plan.degrees.expert > 1) sent_rows_ = exchanged_rows(plan.training, plan.degrees);
}

bool ExpertTasks::exchanges(workloads::LayerKind kind) const {
  return kind.experts && plan_.degrees.expert > 1;
}

bool ExpertTasks::scatters() const {
  return plan_.training.sequence_parallel && plan_.degrees.tensor > 1;
}

TaskId ExpertTasks::dispatch(const ExpertPass& pass, TaskId made) {
  return exchange("dispatch", pass, made);
}

TaskIds ExpertTasks::run(const ExpertPass& pass, const LayerWork& work, TaskId made, TaskId sent) {
  const TaskId shared_done = shared(pass, work.shared, made);
  const double rows = sent_rows_ * plan_.degrees.tensor;
  if (scatters())
    sent = over_tensor("gather rows of " + pass.name, "gather rows", Collective::all_gather, rows,
                       sent);
  TaskId done =
      tasks_.compute(pass.name + ", experts", pass.group, work.experts, pass.model, {sent});
  if (scatters())
    done = over_tensor("scatter rows of " + pass.name, "scatter rows", Collective::reduce_scatter,
                       rows, done);
  return {exchange("combine", pass, done), shared_done};
}

TaskId ExpertTasks::exchange(const std::string& what, const ExpertPass& pass, TaskId made) {
  return tasks_.communicate(what + " of " + pass.name, pass.backward ? what + " gradients" : what,
                            "expert", Collective::all_to_all, {"expert"},
                            sent_rows_ * plan_.training.model.d_model, {made});
}

/// Shared experts. With sequence parallelism the tensor group gathers all positions, unless the
/// activations of the pass are gathered already, and scatters the results; recomputed ones only
/// for a post-norm.
TaskId ExpertTasks::shared(const ExpertPass& pass, const Operations& operations, TaskId made) {
  if (operations.empty()) return kNoTask;
  const std::string name = pass.name + ", shared experts";
  const bool gathers = scatters() && pass.model == ModelFlops::counts;
  const bool has_readers = gathers || (scatters() && plan_.training.model.post_norms);
  if (gathers)
    made = over_tensor("gather positions of " + name, "gather activations", Collective::all_gather,
                       plan_.rows, made);
  const TaskId done = tasks_.compute(name, pass.group, operations, pass.model, {made});
  if (!has_readers) return done;
  return over_tensor("scatter " + name, "scatter activations", Collective::reduce_scatter,
                     plan_.rows, done);
}

TaskId ExpertTasks::over_tensor(const std::string& name, const std::string& group,
                                Collective collective, double rows, TaskId after) {
  return tasks_.communicate(name, group, "tensor", collective, {"tensor"},
                            rows * plan_.training.model.d_model, {after});
}

}  // namespace equarx::steps
