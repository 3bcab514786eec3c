#include "models/steps/weight_tasks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace equarx::steps {

using collectives::Collective;

const std::vector<std::string>& replica_axes() {
  static const std::vector<std::string> axes = {"data", "context"};
  return axes;
}

WeightTasks::WeightTasks(const TrainingPlan& plan, TaskWriter& tasks, bool sums)
    : plan_(plan), tasks_(tasks), sums_(sums && plan.degrees.replicas() > 1) {}

bool WeightTasks::is_table(WeightPart part) const {
  return part == 0 || part > plan_.training.model.layers;
}

double WeightTasks::weights_in(WeightPart part) const {
  return is_table(part)
             ? table_weights(plan_.training.model, plan_.degrees)
             : layer_weights(plan_.training.model,
                             workloads::layer_kind(plan_.training.model, part - 1), plan_.degrees);
}

std::string WeightTasks::part_name(WeightPart part) const {
  if (is_table(part)) return part == 0 ? "embedding" : "head";
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
    bucket.weights /= plan_.degrees.fsdp;
  }
  return all;
}

void WeightTasks::gather_updated(const std::vector<WeightPart>& parts) {
  if (!sums_ || !plan_.training.distributed_optimizer) return;
  for (const WeightBucket& bucket : buckets(parts)) {
    const TaskId gathered =
        tasks_.communicate("gather updated " + bucket.name, "gather updated weights", "data",
                           Collective::all_gather, replica_axes(), bucket.weights, {});
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

TaskId WeightTasks::gather(const std::string& what, double weights, TaskId freed, TaskId updated) {
  return tasks_.communicate("gather " + what, "gather weights", "gather", Collective::all_gather,
                            {"fsdp"}, weights, {freed, updated});
}

void WeightTasks::reduce(const std::string& what, double weights, TaskId made, bool last) {
  const TaskId scattered = tasks_.communicate("scatter " + what, "scatter gradients", "scatter",
                                              Collective::reduce_scatter, {"fsdp"}, weights, {made},
                                              plan_.training.gradient_dtype);
  const TaskId own = scattered == kNoTask ? made : scattered;
  if (!last || !sums_) {
    gradients_.push_back(own);
    return;
  }
  bucket_.push_back(own);
  bucket_weights_ += weights / plan_.degrees.fsdp;
  if (bucket_.size() >= plan_.training.buckets) sum_bucket(what);
}

void WeightTasks::finish(const std::string& what) { sum_bucket(what + ", the rest"); }

void WeightTasks::sum_bucket(const std::string& what) {
  if (bucket_.empty()) return;
  const Collective collective =
      plan_.training.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
  gradients_.push_back(
      tasks_.communicate("sum gradients to " + what, "sum gradients", "data", collective,
                         replica_axes(), std::exchange(bucket_weights_, 0.0),
                         std::exchange(bucket_, {}), plan_.training.gradient_dtype));
}

}  // namespace equarx::steps
