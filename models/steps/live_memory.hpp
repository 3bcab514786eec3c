// HBM that is alive at once during a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  /// Chips with buffers of their own: an index into StepGraph::chip_lists.
  std::optional<std::uint32_t> chips = std::nullopt;

  double total() const { return weights + gradients + optimizer + gathered + activations + logits; }
};

/// Returns the memory during the task of the core at which most is alive; the first such task, of the
/// first chips if they have buffers of their own. Liveness is static, as in XLA's buffer assignment: it follows the order of tasks, not their
/// times. A task outside the core runs during the next core task of the list.
/// @throws std::logic_error if the graph has no task of the core
LiveMemory peak_memory(const StepGraph& graph);

/// Returns the same for each set of chips with buffers of their own, by first buffer; for all chips if
/// there are none.
std::vector<LiveMemory> peaks_of_roles(const StepGraph& graph);

}  // namespace equarx::steps
