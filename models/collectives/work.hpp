// Vector work of an instruction, independent of the chip.
#pragma once

#include <cstdint>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Operations of FP32 vector lanes, and bytes read and written.
struct Work {
  double alu_operations = 0.0;
  double vmem_bytes = 0.0;  ///< total: all data passes through VMEM
  /// Subset in HBM: the rank's tensor, the result, and anything else placed there.
  double hbm_bytes = 0.0;
};

/// Location of send and receive buffers. Not publicly documented; a remote DMA of a TPU can go
/// between either memory of one chip and either of the other.
enum class WireBuffers : std::uint8_t {
  vmem,  ///< on the chip: DMAs use no HBM bandwidth
  hbm,   ///< DMAs and the core read and write them in HBM
};

/// Returns the work of a vector instruction: elements x the operations counted in work.cpp and
/// models/formats/vector_work.hpp. `buffers`: location of the wire buffers that the instruction
/// accesses. `rank`: the rank that executes it, for programs with counts.
/// @throws std::logic_error if it is not vector work (is_vector_work())
Work work_of(const Program& program, const Instruction& instruction,
             WireBuffers buffers = WireBuffers::vmem, Rank rank = 0);

}  // namespace equarx::collectives
