#include "models/steps/layer_tasks.hpp"

#include <memory>
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

/// Names of the tasks of a pass.
struct LayerTasks::Labels {
  Pass which;
  std::string pass;
  bool halves;  ///< of tensor parallelism

  bool forward() const { return which == Pass::forward; }
  std::string group() const { return forward() ? "forward" : "backward"; }
  std::string ffn() const { return halves ? half_of(pass, true) : pass; }
  AttentionPass attention_pass(const std::string& name) const {
    return {name, group(), ModelFlops::counts, !forward()};
  }
  ExpertPass expert_pass() const { return {ffn(), group(), ModelFlops::counts, !forward()}; }
};

LayerTasks::LayerTasks(const TrainingPlan& plan, TaskWriter& tasks)
    : plan_(plan), tasks_(tasks), context_(plan, tasks), experts_(plan, tasks) {}

std::size_t LayerTasks::parts(workloads::LayerKind kind) const {
  constexpr std::size_t kAroundExchanges = 3;
  return experts_.exchanges(kind) ? kAroundExchanges : 1;
}

std::vector<LayerTasks::Part> LayerTasks::pass(Pass which, const std::string& name,
                                               const LayerWork& work) {
  const Labels labels{which, name, plan_.degrees.tensor > 1};
  const auto own = std::make_shared<const LayerWork>(work);
  if (work.experts.empty())
    return {
        [=, this](TaskIds after) { return TaskIds{whole_pass(labels, *own, std::move(after))}; }};
  return {[=, this](TaskIds after) {
            const TaskId made = before_experts(labels, *own, std::move(after));
            return TaskIds{experts_.dispatch(labels.expert_pass(), made), made};
          },
          [=, this](TaskIds sent) {
            return experts_.run(labels.expert_pass(), *own, sent[1], sent[0]);
          },
          [=, this](TaskIds combined) {
            return TaskIds{after_experts(labels, *own, std::move(combined))};
          }};
}

TaskId LayerTasks::whole_pass(const Labels& labels, const LayerWork& work, TaskIds after) {
  const bool forward = labels.forward();
  if (!labels.halves)
    return context_.run(
        labels.attention_pass(labels.pass),
        forward ? joined(work.attention, work.ffn) : joined(work.ffn, work.attention),
        std::move(after));
  for (const bool ffn : {!forward, forward})
    after = {half(labels, ffn, ffn ? work.ffn : work.attention, std::move(after))};
  return after.front();
}

TaskId LayerTasks::half(const Labels& labels, bool ffn, const Operations& operations,
                        TaskIds after) {
  const std::string name = half_of(labels.pass, ffn);
  if (plan_.training.sequence_parallel)
    after = {activations("gather positions of " + name, "gather activations", "tensor",
                         Collective::all_gather, after)};
  return sum_parts(name, context_.run(labels.attention_pass(name), operations, after));
}

TaskId LayerTasks::before_experts(const Labels& labels, const LayerWork& work, TaskIds after) {
  if (!labels.forward()) return sum_of_experts(labels, work.sum, std::move(after));
  if (!labels.halves)
    return context_.run(labels.attention_pass(labels.pass), joined(work.attention, work.ffn),
                        std::move(after));
  const TaskId attention = half(labels, false, work.attention, std::move(after));
  return tasks_.compute(labels.ffn(), labels.group(), work.ffn, ModelFlops::counts, {attention});
}

TaskId LayerTasks::after_experts(const Labels& labels, const LayerWork& work, TaskIds after) {
  if (labels.forward())
    return sum_unless_scattered(labels, sum_of_experts(labels, work.sum, std::move(after)));
  if (!labels.halves)
    return context_.run(labels.attention_pass(labels.pass), joined(work.ffn, work.attention),
                        std::move(after));
  const TaskId router =
      tasks_.compute(labels.ffn(), labels.group(), work.ffn, ModelFlops::counts, std::move(after));
  return half(labels, false, work.attention, {sum_unless_scattered(labels, router)});
}

TaskId LayerTasks::sum_of_experts(const Labels& labels, const Operations& operations,
                                  TaskIds after) {
  return tasks_.compute(labels.ffn() + ", sum", labels.group(), operations, ModelFlops::counts,
                        std::move(after));
}

TaskId LayerTasks::sum_unless_scattered(const Labels& labels, TaskId made) {
  if (!labels.halves || experts_.scatters()) return made;
  return sum_parts(labels.ffn(), made);
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
                                     workloads::LayerKind kind, const LayerWork& work,
                                     TaskIds after, TaskId early) {
  if (plan_.degrees.tensor == 1)
    return recompute_experts(name, work,
                             recompute(name, joined(work.attention, work.ffn), std::move(after)));
  const bool recomputes_sum = plan_.training.remat.attention_output == Keep::recompute;
  // Rows of experts are sent from the chips that keep their positions.
  const bool gathers_ffn =
      !experts_.exchanges(kind) || plan_.training.model.experts.value().shared_ffn > 0;
  after.push_back(gather_input(half_of(pass, false), early));
  after = recompute(half_of(name, false), work.attention, std::move(after));
  if (recomputes_sum) after.push_back(early = sum_parts(half_of(name, false), after.front()));
  if (gathers_ffn) after.push_back(gather_input(half_of(pass, true), early));
  const std::string ffn = half_of(name, true);
  after = recompute_experts(ffn, work, recompute(ffn, work.ffn, std::move(after)));
  const bool scattered = experts_.exchanges(kind) && experts_.scatters();
  if (recomputes_result() && !scattered) after.push_back(sum_parts(ffn, after.front()));
  return after;
}

/// True if the result of the FFN is recomputed, which a post-norm reads.
bool LayerTasks::recomputes_result() const {
  return plan_.training.model.post_norms && plan_.training.remat.ffn_in == Keep::recompute;
}

/// Repeats the exchanges with the experts. `after`: the recomputed rows, if the FFN is.
TaskIds LayerTasks::recompute_experts(const std::string& name, const LayerWork& work,
                                      TaskIds after) {
  if (work.experts.empty()) return after;
  const ExpertPass pass{.name = name, .group = "recompute"};
  const TaskIds results =
      experts_.run(pass, work, after.front(), experts_.dispatch(pass, after.front()));
  if (work.sum.empty()) return results;
  return {tasks_.compute(name + ", sum", pass.group, work.sum, ModelFlops::none, results)};
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
