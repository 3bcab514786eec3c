// Traffic and core time of a whole step, without its instruction streams.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine.hpp"
#include "sim/step_program.hpp"

namespace equarx::step {

/// Sums over all tasks of a step.
struct StepTotals {
  /// By link of the machine: bytes of messages, and of HBM accesses by cores.
  std::vector<std::uint64_t> link_bytes;
  std::vector<double> core_s;  ///< by rank: core time of all streams
  std::uint64_t messages = 0;  ///< over all ranks
};

/// Adds up the runs of each program and the other work; no program is written out more than once.
StepTotals totals_of(const sim::StepProgram& work, const sim::Machine& machine);

}  // namespace equarx::step
