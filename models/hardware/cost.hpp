// Vector unit cost model.
#pragma once

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Returns the core time of one vector instruction: max(ALU operations / ALU rate, VMEM bytes /
/// VMEM bandwidth, HBM bytes / HBM bandwidth) + overhead.
double vector_time_s(const Chip& chip, double alu_operations, double vmem_bytes, double hbm_bytes);

}  // namespace equarx::hardware
