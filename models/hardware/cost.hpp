// What vector work costs on a chip.
#pragma once

#include <cstdint>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Which memory holds the operands of a collective.
enum class Memory : std::uint8_t {
  vmem,  ///< the whole working set fits on the chip
  hbm,
};

/// Core time of one vector instruction:
///   max(ALU operations / ALU rate, VMEM bytes / VMEM bandwidth, HBM bytes / HBM bandwidth) + overhead.
/// `bytes` are read and written together. All pass through VMEM; through HBM too if the operands live
/// there. `hbm_taken` is the HBM bandwidth (B/s) that DMAs take from the core meanwhile: the links are
/// slower than the memory, and are never kept waiting for it.
/// @throws std::invalid_argument if the DMAs leave the core nothing.
double vector_time_s(const Chip& chip, double alu_operations, double bytes, Memory memory,
                     double hbm_taken);

}  // namespace equarx::hardware
