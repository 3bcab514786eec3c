// Buffers of a training step in the HBM of one chip.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "models/steps/training.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::steps {

/// Tasks from the first to the last.
struct TaskRange {
  TaskId first = 0;
  TaskId last = 0;
};

/// Adds buffers to a graph: for each, its use and the tasks during which it is alive. Copies
/// of activations and weights in other types (casts) are not counted.
class TrainingBuffers {
 public:
  /// `training` and `graph` must outlive this object. `chips`: index into StepGraph::chip_lists; all
  /// chips if absent.
  TrainingBuffers(const Training& training, const Degrees& degrees, StepGraph& graph,
                  std::optional<std::uint32_t> chips);

  /// Weights and optimizer state, alive during `step`; stored gradients, alive during
  /// `gradients`: from the first backward task to the optimizer.
  void add_states(const Weights& weights, TaskRange step, TaskRange gradients);
  /// Weights of a layer or table gathered over "fsdp". None without "fsdp".
  void add_gathered(double weights, TaskRange alive);
  /// Gradients of a layer being computed and scattered over "fsdp", or of a bucket of such layers with
  /// ZeRO stage 2. None otherwise.
  void add_layer_gradients(double weights, TaskRange alive);
  /// Gradients of a vocabulary table, likewise; with logit tiles an FP32 sum.
  void add_table_gradients(double weights, TaskRange alive);
  /// Activations that a layer keeps for its backward pass.
  void add_kept(workloads::LayerKind kind, TaskRange alive);
  /// Activations of a layer in flight to or from the host.
  void add_offloaded(workloads::LayerKind kind, TaskRange alive);
  /// Activations of a layer's forward pass that are not kept.
  void add_forward(workloads::LayerKind kind, TaskRange alive);
  /// Recomputed activations of a layer, and the gradients of its activations.
  void add_backward(workloads::LayerKind kind, TaskRange alive);
  /// Operands of the gradients of a layer's weights, if they are computed later than the others.
  void add_delayed(workloads::LayerKind kind, TaskRange alive);
  /// Normalized inputs of the projection of a module that predicts a further token.
  void add_prediction(TaskRange alive);
  /// Logits, the last layer's result and its norm.
  void add_head(TaskRange alive);

 private:
  double sum(workloads::LayerKind kind, Keep keep) const;
  double unkept(Keep keep, double bytes) const;
  double forward_bytes(workloads::LayerKind kind) const;
  double backward_bytes(workloads::LayerKind kind) const;
  double normalized(workloads::LayerKind kind) const;
  double context_bytes() const;
  const ActivationBytes& layer(workloads::LayerKind kind) const;
  void add(BufferUse use, double bytes, TaskRange alive);

  const Training& training_;
  Degrees degrees_;
  StepGraph& graph_;
  std::optional<std::uint32_t> chips_;
  /// Activations of a layer of each kind.
  std::vector<std::pair<workloads::LayerKind, ActivationBytes>> layers_;
  double rows_;  ///< positions of a microbatch on one chip
};

}  // namespace equarx::steps
