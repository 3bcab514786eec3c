// How much vector work an instruction is, whatever the chip.
#pragma once

#include <cstdint>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Operations of FP32 vector lanes, and bytes that they read and write.
struct Work {
  double alu_operations = 0.0;
  double vmem_bytes = 0.0;  ///< all of them: everything passes through VMEM
  double hbm_bytes = 0.0;   ///< those of the rank's tensor, of the result and of all else in HBM
};

/// Where what is sent and what arrives lies. Nobody publishes it; on a TPU a remote DMA may go between either
/// memory of one chip and either of the other.
enum class WireBuffers : std::uint8_t {
  vmem,  ///< on the chip: DMAs take nothing of HBM
  hbm,   ///< DMAs read it from HBM and write it there, and so does the core
};

/// The work of a vector instruction: elements x the operations counted in work.cpp and models/formats/vector_work.hpp.
/// `buffers`: where the wire's buffers lie, which the instruction reads and writes.
/// @throws std::logic_error if it is not one (see is_vector_work()).
Work work_of(const Program& program, const Instruction& instruction,
             WireBuffers buffers = WireBuffers::vmem);

}  // namespace equarx::collectives
