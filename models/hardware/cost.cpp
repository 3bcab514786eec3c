#include "models/hardware/cost.hpp"

#include <algorithm>

namespace equarx::hardware {

double vector_time_s(const Chip& chip, double alu_operations, double vmem_bytes, double hbm_bytes) {
  return std::max({alu_operations / chip.vector_rate.value, vmem_bytes / chip.vmem_bandwidth.value,
                   hbm_bytes / chip.hbm_rate()}) +
         chip.instruction_overhead.value;
}

}  // namespace equarx::hardware
