// Execution of schedules on tensors, and verification of the results.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// Tensors of all ranks, each a sequence of chunks.
struct Tensors {
  std::size_t elements = 1;  ///< per chunk
  /// Indexed by rank. Output chunks never written are NaN.
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> outputs;
};

/// Transformation of a message's values in transit, such as quantization. Empty: none.
using Transmit = std::function<void(std::span<float> values)>;

/// Executes a schedule on FP32 values, message by message, adding in the order of its steps. Values
/// forwarded unchanged (rcs) are not transmitted again.
/// @param at_once   chunks per message; steps with more send several messages
/// @param transmit  applied to every message
/// @param tensors   inputs of memory_chunks() x elements values each; receives the outputs
/// @throws exceptions::UserError as walk()
void run_values(const Schedule& schedule, const Queues& queues, bool in_place,
                std::uint32_t at_once, const Transmit& transmit, Tensors& tensors);

/// Returns the exact result of a collective in double: one element of a chunk of a rank's output,
/// computed from all ranks' inputs. Not for Collective::custom.
double exact(const Schedule& schedule, const Tensors& tensors, std::uint32_t rank,
             std::uint32_t chunk, std::size_t element);

/// True if the collective defines a result for the rank.
bool has_result(const Schedule& schedule, std::uint32_t rank);

/// Outcome of verify().
struct Verdict {
  bool checked = false;  ///< values were compared; false for custom schedules
  std::string wrong;     ///< first mismatch: rank, chunk and values; empty if the result is correct
};

/// Runs a schedule on random integers, whose sums are exact in any order, and compares every chunk
/// of the result. The schedule must have passed check().
/// @throws exceptions::UserError as walk(), and if there are too many chunks to compare
Verdict verify(const Schedule& schedule, const Queues& queues, bool in_place);

}  // namespace equarx::schedules
