// How much vector work an instruction is, whatever the chip.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Operations of FP32 vector lanes, and bytes that they read and write.
struct Work {
  double alu_operations = 0.0;
  double vmem_bytes = 0.0;  ///< all of them: everything passes through VMEM
  double hbm_bytes = 0.0;   ///< those of the rank's tensor and of the result, which live in HBM
};

/// The work of a vector instruction: elements x the operations counted in work.cpp and models/formats/vector_work.hpp.
/// @throws std::logic_error if it is not one (see is_vector_work()).
Work work_of(const Program& program, const Instruction& instruction);

}  // namespace equarx::collectives
