#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Progress of each chip, for diagnostics. With SimGrid it lives in shared memory and outlives the
/// simulation process.
struct Progress {
  bool deadlocked = false;
  std::uint32_t active_rank = 0;  ///< rank that ran last
  std::uint64_t received = 0;     ///< messages received, over all chips
  /// Position in one instruction stream.
  struct List {
    collectives::InstructionId instruction = 0;
    bool done = false;
  };
  std::uint32_t streams = 1;
  std::span<List> lists;  ///< by rank and stream

  List& at(std::uint32_t rank, std::uint32_t stream = 0) const {
    return lists[rank * streams + stream];
  }
};

/// Error message for an incomplete simulation: the stuck chips and their positions on a deadlock;
/// otherwise the crash reason `failure` and the active chip.
std::string explain(const Describe& describe, const Machine& machine, const Progress& progress,
                    const std::string& failure);

}  // namespace equarx::sim
