#include "models/hardware/cost.hpp"

#include <algorithm>
#include <stdexcept>

namespace equarx::hardware {

double vector_time_s(const Chip& chip, double alu_operations, double bytes, Memory memory,
                     double hbm_taken) {
  double time_s =
      std::max(alu_operations / chip.vector_rate.value, bytes / chip.vmem_bandwidth.value);
  if (memory == Memory::hbm) {
    const double left = chip.hbm_bandwidth.value - hbm_taken;
    if (left <= 0.0)
      throw std::invalid_argument(
          "the links alone take the whole HBM bandwidth; check hbm_bandwidth");
    time_s = std::max(time_s, bytes / left);
  }
  return time_s + chip.instruction_overhead.value;
}

}  // namespace equarx::hardware
