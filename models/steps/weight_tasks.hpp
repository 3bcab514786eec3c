// Communication of the weights of a stage and of their gradients.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/steps/training_tasks.hpp"

namespace equarx::steps {

/// Weights communicated at a time: the embedding (0), a layer (its number plus 1), the head (the next
/// number), or a module that predicts a further token (from the number after), and the copy of the
/// embedding that modules use (last).
using WeightPart = std::uint32_t;

/// Weights of a layer; modules that predict further tokens are numbered as layers after the last.
WeightPart layer_part(const workloads::Transformer& model, std::uint32_t layer);
/// The copy of the embedding that modules use.
WeightPart copied_embedding(const Training& training);

/// Weights communicated in one collective.
struct WeightBucket {
  std::string name;
  std::vector<WeightPart> parts;
  Weights weights = {};  ///< of a chip
};

/// Weights that one collective communicates.
struct WeightsOverAxes {
  bool experts = false;  ///< separate from the others
  std::vector<std::string> axes;
  double elements = 0.0;

  /// Suffix of task names.
  std::string suffix() const { return experts ? " of experts" : ""; }
};

/// Divides weights by the mesh axes along which they are sharded: experts are separate if the axis
/// "expert" divides them.
std::vector<WeightsOverAxes> shard_parts(const Weights& weights, const Degrees& degrees);

/// Divides weights of a chip by the mesh axes along which others have the same: experts are separate
/// if their axes differ.
std::vector<WeightsOverAxes> replica_parts(const Weights& weights, const Degrees& degrees);

/// Gathers weights over "fsdp" and scatters their gradients; sums gradients over chips with the same
/// weights, in buckets, and gathers updated weights.
class WeightTasks {
 public:
  /// Both must outlive this object. `sums`: false if others sum gradients and gather the updated
  /// weights.
  WeightTasks(const TrainingPlan& plan, TaskWriter& tasks, bool sums);

  bool is_table(WeightPart part) const;
  Weights weights_in(WeightPart part) const;

  /// Groups of `buckets` parts, in their order.
  std::vector<WeightBucket> buckets(const std::vector<WeightPart>& parts) const;

  /// With a distributed optimizer: gathers the weights updated in the previous step, in the order in
  /// which the forward pass needs them, in groups of `buckets`. These tasks have no dependencies.
  void gather_updated(const std::vector<WeightPart>& parts);
  /// States that a task gathers the updated weights of a part.
  void set_updated(WeightPart part, TaskId task) { updated_[part] = task; }

  /// Gathers the weights of a part before its forward pass. `freed`: task after which there is
  /// room. `first`: in the first microbatch
  TaskId weights_of(WeightPart part, const std::string& name, TaskId freed, bool first);
  /// Gathers the weights of a layer or table over "fsdp" before a pass.
  TaskId gather(const std::string& what, const Weights& weights, TaskId freed,
                TaskId updated = kNoTask);

  /// Scatters gradients over "fsdp" and, in the last microbatch, sums them.
  void reduce(const std::string& what, const Weights& weights, TaskId made, bool last);
  /// Sums the rest.
  void finish(const std::string& what);

  /// Dependencies of the optimizer.
  const TaskIds& gradients() const { return gradients_; }

 private:
  void sum_bucket(const std::string& what);
  TaskId scatter(const std::string& what, const Weights& weights, TaskId made);
  std::string part_name(WeightPart part) const;

  const TrainingPlan& plan_;
  TaskWriter& tasks_;
  bool sums_;
  std::map<WeightPart, TaskId> updated_;  ///< weight gathers; empty without a distributed optimizer
  TaskIds gradients_;
  TaskIds bucket_;  ///< gradients not yet summed
  Weights bucket_weights_;
};

}  // namespace equarx::steps
