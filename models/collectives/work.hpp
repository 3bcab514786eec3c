// How much vector work an instruction is, whatever the chip.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Operations of FP32 vector lanes, and bytes that pass between them and memory.
struct Work {
  double alu_operations = 0.0;
  double bytes = 0.0;  ///< read and written
};

/// The work of a vector instruction: elements x the operations of the table in work.cpp.
/// @throws std::logic_error if it is not one (see is_vector_work()).
Work work_of(const Program& program, const Instruction& instruction);

}  // namespace equarx::collectives
