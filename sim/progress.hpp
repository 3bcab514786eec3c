#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Where each chip is: for SimGrid in memory that outlives the end of the simulation's process.
struct Progress {
  bool deadlocked = false;
  std::uint32_t active_rank = 0;  ///< the one that ran last
  std::uint64_t received = 0;     ///< messages, by all chips together
  /// Where a chip is in one of its lists.
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

/// Why a simulation did not come to its end, for people: which chips were stuck and where, if it
/// deadlocked; else that it crashed with `failure`, and which chip was active.
std::string explain(const Describe& describe, const Machine& machine, const Progress& progress,
                    const std::string& failure);

}  // namespace equarx::sim
