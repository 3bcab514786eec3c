#pragma once

#include <cstdint>
#include <span>

#include "models/collectives/program.hpp"

namespace equarx::sim {

/// Where each chip is, in memory that outlives the end of the simulation's process.
struct Progress {
  bool deadlocked = false;
  std::uint32_t active_rank = 0;  ///< the one that ran last
  /// Where a chip is in its list of instructions.
  struct Chip {
    collectives::InstructionId instruction = 0;
    bool done = false;
  };
  std::span<Chip> chips;  ///< by rank
};

}  // namespace equarx::sim
