#include "models/steps/layer_tasks.hpp"

#include <utility>

#include <fmt/format.h>

namespace equarx::steps {
namespace {

using collectives::Collective;
using workloads::Operation;

std::vector<Operation> joined(std::vector<Operation> first, const std::vector<Operation>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string half_of(const std::string& pass, bool ffn) {
  return fmt::format("{}, {}", pass, ffn ? "FFN" : "attention");
}

}  // namespace

LayerTasks::LayerTasks(const TrainingPlan& plan, TaskWriter& tasks)
    : plan_(plan), tasks_(tasks), context_(plan, tasks) {}

TaskId LayerTasks::pass(Pass which, const std::string& name, const LayerWork& work, TaskIds after) {
  const bool forward = which == Pass::forward;
  const std::string group = forward ? "forward" : "backward";
  if (plan_.degrees.tensor == 1)
    return context_.run(
        {name, group, ModelFlops::counts, !forward},
        forward ? joined(work.attention, work.ffn) : joined(work.ffn, work.attention),
        std::move(after));
  for (const bool ffn : {!forward, forward}) {
    const std::string half = half_of(name, ffn);
    if (plan_.training.sequence_parallel)
      after = {activations("gather positions of " + half, "gather activations", "tensor",
                           Collective::all_gather, after)};
    const TaskId done = context_.run({half, group, ModelFlops::counts, !forward},
                                     ffn ? work.ffn : work.attention, after);
    after = {sum_parts(half, done)};
  }
  return after.front();
}

/// Sums partial results of a tensor group: on every chip, or scattered along the sequence.
TaskId LayerTasks::sum_parts(const std::string& half, TaskId made) {
  if (plan_.training.sequence_parallel)
    return activations("scatter " + half, "scatter activations", "tensor",
                       Collective::reduce_scatter, {made});
  return activations("sum " + half, "sum activations", "tensor", Collective::all_reduce, {made});
}

TaskId LayerTasks::activations(const std::string& name, const std::string& group,
                               const std::string& on, Collective collective, TaskIds after) {
  return tasks_.communicate(name, group, on, collective, {"tensor"},
                            plan_.rows * plan_.training.model.d_model, std::move(after));
}

TaskIds LayerTasks::prepare_backward(const std::string& name, const std::string& pass,
                                     const LayerWork& work, TaskIds after, TaskId early) {
  if (plan_.degrees.tensor == 1)
    return recompute(name, joined(work.attention, work.ffn), std::move(after));
  const bool recomputes_sum = plan_.training.remat.attention_output == Keep::recompute;
  after.push_back(gather_input(half_of(pass, false), early));
  after = recompute(half_of(name, false), work.attention, std::move(after));
  if (recomputes_sum) after.push_back(early = sum_parts(half_of(name, false), after.front()));
  after.push_back(gather_input(half_of(pass, true), early));
  return recompute(half_of(name, true), work.ffn, std::move(after));
}

/// Runs on a separate stream, because the kept shards are available early.
TaskId LayerTasks::gather_input(const std::string& half, TaskId early) {
  if (!plan_.training.sequence_parallel) return kNoTask;
  return activations("gather input of " + half, "gather activations", "inputs",
                     Collective::all_gather, {early});
}

TaskIds LayerTasks::recompute(const std::string& name, const std::vector<Operation>& operations,
                              TaskIds after) {
  if (operations.empty()) return after;
  return {context_.run({name, "recompute", ModelFlops::none, false}, operations, std::move(after))};
}

}  // namespace equarx::steps
