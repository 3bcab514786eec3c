// Writer of the tasks that the chips of a stage run in a training step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/steps/training.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::steps {

inline constexpr TaskId kNoTask = 0xFFFFFFFF;  ///< no task
using TaskIds = std::vector<TaskId>;           ///< may contain kNoTask

/// Inputs of all stages.
struct TrainingPlan {
  TrainingPlan(const Training& training, const Mesh& mesh);

  const Training& training;
  const Mesh& mesh;
  Degrees degrees;
  TrainingOperations first;  ///< operations of the first microbatch
  TrainingOperations later;  ///< operations of later microbatches
  double rows;               ///< positions per microbatch and chip
  double all_pairs;          ///< ratio of all query-key pairs to computed ones
};

/// Whether FLOPs count as model FLOPs.
enum class ModelFlops : bool { none, counts };

/// Adds tasks to a graph.
class TaskWriter {
 public:
  /// `plan` and `graph` must outlive this object. `chips`: that run the tasks, an index into
  /// StepGraph::chip_lists; all if absent.
  TaskWriter(const TrainingPlan& plan, StepGraph& graph, std::optional<std::uint32_t> chips);

  /// The id of the next task.
  TaskId next() const { return static_cast<TaskId>(graph_.tasks.size()); }
  const std::optional<std::uint32_t>& chips() const { return chips_; }

  /// Adds work to a stream and returns its id. Entries of `after` may be kNoTask, or repeated.
  TaskId add(const std::string& name, const std::string& group, const std::string& stream,
             decltype(Task::work) work, TaskIds after);
  TaskId compute(const std::string& name, const std::string& group,
                 const std::vector<workloads::Operation>& operations, ModelFlops model,
                 TaskIds after);
  /// A collective over mesh axes. Returns kNoTask if they have one chip.
  TaskId communicate(const std::string& name, const std::string& group, const std::string& stream,
                     collectives::Collective collective, const std::vector<std::string>& axes,
                     double elements, TaskIds after,
                     numerics::ElementFormat dtype = numerics::ElementFormat::bf16);
  /// Every chip sends `bytes` to the next one along a mesh axis and waits for its own.
  TaskId shift(const std::string& name, const std::string& group, const std::string& stream,
               const std::string& axis, double bytes, TaskIds after);

 private:
  const TrainingPlan& plan_;
  StepGraph& graph_;
  std::optional<std::uint32_t> chips_;
  std::optional<std::uint32_t> shift_pairs_;  ///< of the only axis with shifts
};

}  // namespace equarx::steps
