// Times of the kernels of a list on a chip, compared with measured ones.
#pragma once

#include <string>
#include <vector>

#include "experiments/calibrate/kernel_list.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::calibrate {

/// A kernel of a list with its time on a chip.
struct TimedKernel {
  KernelRow row;
  double simulated_s = 0.0;  ///< workloads::roofline(), plus the timer's overhead
  double bound_s = 0.0;      ///< bytes / HBM bandwidth or FLOPs / peak, the larger one
};

/// @param timer_overhead_s  part of the time of every row that is not `back_to_back`
/// @throws InputError as read_kernel_file()
std::vector<TimedKernel> time_kernels(const std::string& file, double timer_overhead_s,
                                      const hardware::Chip& chip);

/// A line per row, and with measured times the ratios simulated / measured by kind and type.
std::string to_table(const std::vector<TimedKernel>& kernels, const hardware::Chip& chip);

/// Rows in the form of a study's results, for `equarx-sim accuracy`: `expected` and `simulated`
/// times in seconds, `role` "calibration" or "prediction", question "kernel". `origin`: of the
/// measurements. Rows without a measured time have no `expected`.
input::Json study_json(const std::vector<TimedKernel>& kernels, const hardware::Chip& chip,
                       const std::string& origin);

}  // namespace equarx::calibrate
