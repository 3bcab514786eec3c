// Runs a schedule on tensors, and holds it to the collective that it claims to be.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/schedules/queues.hpp"
#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Tensors of all ranks, each cut into the chunks of its buffer.
struct Tensors {
  std::size_t elements = 1;  ///< of a chunk
  /// By rank. Output chunks that nobody wrote are NaN.
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> outputs;
};

/// What becomes of the values that a message brings: a quantization. By default nothing.
using Transmit = std::function<void(std::span<float> values)>;

/// Carries out a schedule on FP32 values, message by message; sums are added in the order of its steps. What is sent on
/// as it came (rcs) is not transmitted again.
/// @param tensors   inputs, each of memory_chunks() x elements values; becomes the outputs, too
/// @param at_once   chunks of a message: a step of more sends several
/// @throws ScheduleError as walk()
void run_values(const Schedule& schedule, const Queues& queues, bool in_place,
                std::uint32_t at_once, const Transmit& transmit, Tensors& tensors);

/// Exact result of a collective: element e of chunk c of what rank r gets, out of all ranks' inputs, in double.
/// Not of Collective::custom.
double exact(const Schedule& schedule, const Tensors& tensors, std::uint32_t rank,
             std::uint32_t chunk, std::size_t element);

/// Whether a rank gets a result.
bool has_result(const Schedule& schedule, std::uint32_t rank);

/// What a schedule was found to be.
struct Verdict {
  bool checked = false;  ///< values were compared: not of custom schedules
  std::string wrong;     ///< the first rank and chunk that differ, and how; empty if none does
};

/// Runs a schedule on random whole numbers, whose sums are exact in any order, and compares every chunk of the result. Of a checked schedule.
/// @throws ScheduleError as walk(), and if so many chunks cannot be compared
Verdict verify(const Schedule& schedule, const Queues& queues, bool in_place);

}  // namespace equarx::schedules
