// Memory footprint of a training step per chip.
#pragma once

#include "models/steps/mesh.hpp"
#include "models/steps/training.hpp"

namespace equarx::steps {

/// HBM of one chip, in bytes.
struct TrainingMemory {
  /// With a distributed optimizer: all weights in bf16, plus the stored shard of this chip.
  double weights = 0.0;
  /// Stored gradients; with "fsdp" also the unsharded ones being scattered.
  double gradients = 0.0;
  double optimizer = 0.0;
  /// With "fsdp": bf16 weights of the layer or table in use and of prefetched layers, sharded by
  /// tensor parallelism only.
  double gathered = 0.0;
  /// Kept activations of all layers; offload buffers; the layer being computed, with the gradients
  /// of its activations; with sequence parallelism also unsharded inputs and gradients.
  double activations = 0.0;
  double logits = 0.0;  ///< bf16 or FP32; overwritten by their gradient

  double total() const { return weights + gradients + optimizer + gathered + activations + logits; }
};

/// @throws std::invalid_argument if the model or batch cannot be divided over the mesh; the message
/// names a remedy
TrainingMemory training_memory(const Training& training, const Mesh& mesh);

}  // namespace equarx::steps
