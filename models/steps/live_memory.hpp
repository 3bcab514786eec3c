// HBM that is alive at once during a step.
#pragma once

#include <string>

#include "models/steps/step.hpp"

namespace equarx::steps {

/// HBM of one chip while a task of the core runs, in bytes.
struct LiveMemory {
  double weights = 0.0;    ///< stored ones; with a distributed optimizer also all of them in bf16
  double gradients = 0.0;  ///< stored ones; with "fsdp" also unsharded ones being scattered
  double optimizer = 0.0;
  double gathered = 0.0;     ///< bf16 weights in use or prefetched, sharded over "tensor" only
  double activations = 0.0;  ///< kept, in flight to or from the host, recomputed, and in progress
  double logits = 0.0;       ///< overwritten by their gradient
  std::string task = {};     ///< name of the task

  double total() const { return weights + gradients + optimizer + gathered + activations + logits; }
};

/// Returns the memory during the task of the core at which most is alive; the first such task.
/// Liveness is static, as in XLA's buffer assignment: it follows the order of tasks, not their
/// times. A task outside the core runs during the next core task of the list.
/// @throws std::logic_error if the graph has no task of the core
LiveMemory peak_memory(const StepGraph& graph);

}  // namespace equarx::steps
