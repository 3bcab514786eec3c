#include "models/steps/weight_tasks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace equarx::steps {

using collectives::Collective;

WeightPart layer_part(const workloads::Transformer& model, std::uint32_t layer) {
  return layer < model.layers ? layer + 1 : layer + 2;
}

WeightPart copied_embedding(const Training& training) {
  return layer_part(training.model, training.model.layers + training.prediction_depth);
}

std::vector<WeightsOverAxes> shard_parts(const Weights& weights, const Degrees& degrees) {
  std::vector<WeightsOverAxes> parts = {{false, degrees.dense_shard_axes(), weights.dense}};
  if (weights.experts > 0.0) parts.push_back({true, expert_shard_axes(), weights.experts});
  return parts;
}

std::vector<WeightsOverAxes> replica_parts(const Weights& weights, const Degrees& degrees) {
  const std::vector<std::string> dense = degrees.dense_replica_axes();
  if (weights.experts == 0.0 || dense == expert_replica_axes())
    return {{false, dense, weights.all()}};
  return {{false, dense, weights.dense}, {true, expert_replica_axes(), weights.experts}};
}

WeightTasks::WeightTasks(const TrainingPlan& plan, TaskWriter& tasks, bool sums)
    : plan_(plan), tasks_(tasks), sums_(sums && plan.degrees.dense_replicas() > 1) {}

bool WeightTasks::is_table(WeightPart part) const {
  return part == 0 || part == plan_.training.model.layers + 1 ||
         part == copied_embedding(plan_.training);
}

Weights WeightTasks::weights_in(WeightPart part) const {
  const workloads::Transformer& model = plan_.training.model;
  if (is_table(part)) return {.dense = table_weights(model, plan_.degrees)};
  if (part > model.layers) return prediction_weights(model, plan_.degrees);
  return layer_weights(model, workloads::layer_kind(model, part - 1), plan_.degrees);
}

std::string WeightTasks::part_name(WeightPart part) const {
  if (part == copied_embedding(plan_.training)) return "embedding of predictions";
  if (is_table(part)) return part == 0 ? "embedding" : "head";
  const std::uint32_t layers = plan_.training.model.layers;
  if (part > layers) return fmt::format("prediction {}", part - layers - 1);
  return fmt::format("layer {}", part - 1);
}

std::vector<WeightBucket> WeightTasks::buckets(const std::vector<WeightPart>& parts) const {
  std::vector<WeightBucket> all;
  for (std::size_t first = 0; first < parts.size(); first += plan_.training.buckets) {
    const std::size_t end = std::min(first + plan_.training.buckets, parts.size());
    WeightBucket& bucket = all.emplace_back();
    bucket.name = fmt::format("{} to {}", part_name(parts[first]), part_name(parts[end - 1]));
    for (std::size_t i = first; i < end; ++i) {
      bucket.parts.push_back(parts[i]);
      bucket.weights += weights_in(parts[i]);
    }
    bucket.weights = shard_of(bucket.weights, plan_.degrees);
  }
  return all;
}

void WeightTasks::gather_updated(const std::vector<WeightPart>& parts) {
  if (!sums_ || !plan_.training.distributed_optimizer) return;
  for (const WeightBucket& bucket : buckets(parts)) {
    TaskId gathered = kNoTask;  // the last, on one stream
    for (const WeightsOverAxes& of : replica_parts(bucket.weights, plan_.degrees)) {
      const TaskId one = tasks_.communicate("gather updated " + bucket.name + of.suffix(),
                                            "gather updated weights", "data",
                                            Collective::all_gather, of.axes, of.elements, {});
      if (one != kNoTask) gathered = one;
    }
    for (const WeightPart part : bucket.parts) updated_[part] = gathered;
  }
  const auto embedding = updated_.find(0);
  if (plan_.training.model.tied_embeddings && embedding != updated_.end())
    updated_.try_emplace(plan_.training.model.layers + 1, embedding->second);
}

TaskId WeightTasks::weights_of(WeightPart part, const std::string& name, TaskId freed, bool first) {
  const auto known = first ? updated_.find(part) : updated_.end();
  const TaskId updated = known == updated_.end() ? kNoTask : known->second;
  const TaskId gathered = gather(name, weights_in(part), freed, updated);
  return gathered == kNoTask ? updated : gathered;
}

/// Returns the last task, on one stream; kNoTask without "fsdp".
TaskId WeightTasks::gather(const std::string& what, const Weights& weights, TaskId freed,
                           TaskId updated) {
  TaskId last = kNoTask;
  for (const WeightsOverAxes& of : shard_parts(weights, plan_.degrees))
    last = tasks_.communicate((of.experts ? "gather experts of " : "gather ") + what,
                              "gather weights", "gather", Collective::all_gather, of.axes,
                              of.elements, {freed, updated});
  return last;
}

/// Likewise.
TaskId WeightTasks::scatter(const std::string& what, const Weights& weights, TaskId made) {
  TaskId last = kNoTask;
  for (const WeightsOverAxes& of : shard_parts(weights, plan_.degrees))
    last = tasks_.communicate((of.experts ? "scatter experts of " : "scatter ") + what,
                              "scatter gradients", "scatter", Collective::reduce_scatter, of.axes,
                              of.elements, {made}, plan_.training.gradient_dtype);
  return last;
}

void WeightTasks::reduce(const std::string& what, const Weights& weights, TaskId made, bool last) {
  const TaskId scattered = scatter(what, weights, made);
  const TaskId own = scattered == kNoTask ? made : scattered;
  if ((!last && !plan_.training.sharded_gradients) || !sums_) {
    gradients_.push_back(own);
    return;
  }
  bucket_.push_back(own);
  bucket_weights_ += shard_of(weights, plan_.degrees);
  if (bucket_.size() >= plan_.training.buckets) sum_bucket(what);
}

void WeightTasks::finish(const std::string& what) { sum_bucket(what + ", the rest"); }

void WeightTasks::sum_bucket(const std::string& what) {
  if (bucket_.empty()) return;
  const Collective collective =
      plan_.training.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
  const TaskIds made = std::exchange(bucket_, {});
  for (const WeightsOverAxes& of : replica_parts(std::exchange(bucket_weights_, {}), plan_.degrees))
    gradients_.push_back(tasks_.communicate("sum gradients" + of.suffix() + " to " + what,
                                            "sum gradients", "data", collective, of.axes,
                                            of.elements, made, plan_.training.gradient_dtype));
}

}  // namespace equarx::steps
