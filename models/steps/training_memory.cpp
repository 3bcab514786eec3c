#include "models/steps/training_memory.hpp"

#include <algorithm>

#include "models/steps/training_operations.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

using workloads::Transformer;

TrainingMemory training_memory(const Training& training, const Mesh& mesh) {
  constexpr double kWithGradients = 2.0;
  // Inputs of both halves of a layer, and the gradient of a result.
  constexpr double kUnshardedTensors = 3.0;
  const Degrees by = degrees(mesh);
  const Transformer& model = training.model;
  const ActivationBytes layer = activation_bytes(training, by);
  const double shard = workloads::parameters(model) / by.fsdp / by.tensor;
  const double updated = training.distributed_optimizer ? shard / by.data : shard;
  TrainingMemory memory{.weights = updated * training.weight_bytes,
                        .gradients = shard * training.gradient_bytes,
                        .optimizer = updated * training.moment_bytes};
  if (training.distributed_optimizer) memory.weights += shard * workloads::kActivationBytes;
  if (by.fsdp > 1) {
    const double per_layer = layer_weights(model, by);
    const double in_use = std::max(per_layer, table_weights(model, by));
    const double ahead = std::min(training.prefetch, model.layers);
    memory.gathered = workloads::kActivationBytes * (in_use + ahead * per_layer);
    memory.gradients += numerics::element_bits(training.gradient_dtype) / 8.0 * in_use;
  }
  double kept = 0.0;
  double in_progress = 0.0;
  for (const Activation& activation : kActivations) {
    const Keep keep = training.remat.*activation.keep;
    const double bytes = layer.*activation.bytes;
    if (keep == Keep::kept) kept += bytes * model.layers;
    in_progress += bytes;
    if (keep == Keep::offload) kept += bytes * (1.0 + training.prefetch);
  }
  memory.activations = kept + kWithGradients * in_progress;
  const double rows = sequences_of_chip(training, by) * static_cast<double>(training.sequence);
  if (training.sequence_parallel && by.tensor > 1)
    memory.activations += kUnshardedTensors * rows * model.d_model * workloads::kActivationBytes;
  memory.logits = rows * workloads::shard(model, by.tensor).vocabulary *
                  result_bytes(training.precision.head.forward);
  return memory;
}

}  // namespace equarx::steps
