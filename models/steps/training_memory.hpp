// What a step of training needs of each chip's memory.
#pragma once

#include "models/steps/mesh.hpp"
#include "models/steps/training.hpp"

namespace equarx::steps {

/// HBM of one chip, in bytes.
struct TrainingMemory {
  double weights =
      0.0;  ///< with a distributed optimizer all in bf16, and this chip's part as it is kept
  double gradients = 0.0;  ///< as they are kept; with "fsdp" also the whole ones that are scattered
  double optimizer = 0.0;
  /// With "fsdp" in bf16, whole but for tensor parallelism: a layer or table at work, and layers gathered ahead.
  double gathered = 0.0;
  /// What is kept of all layers; buffers for what the host has; a layer at work, with the gradients of its
  /// activations; with sequence parallelism inputs and gradients of all positions.
  double activations = 0.0;
  double logits = 0.0;  ///< bf16, or FP32; their gradient takes their place

  double total() const { return weights + gradients + optimizer + gathered + activations + logits; }
};

/// @throws std::invalid_argument for what cannot be divided over the mesh, with the remedy
TrainingMemory training_memory(const Training& training, const Mesh& mesh);

}  // namespace equarx::steps
