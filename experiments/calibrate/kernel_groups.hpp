// Measured kernels by kind, type and role, for reports and hardware files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/calibrate/calibrate.hpp"

namespace equarx::calibrate {

/// Rows of one kind of kernel, type, role and source, and ln(simulated / measured) over them.
struct KernelGroup {
  std::string what;  ///< "gemm of bf16"
  std::string source;
  hardware::ObservationRole role = hardware::ObservationRole::fit;
  std::size_t rows = 0;
  double bias = 0.0;         ///< mean of ln(simulated / measured)
  double rms = 0.0;          ///< root mean square of it
  std::size_t worst = 0;     ///< measurement with the largest magnitude
  double worst_ratio = 1.0;  ///< simulated / measured of that one
};

/// A measured kernel and its simulation.
struct KernelError {
  std::string what;  ///< "gemm of bf16"
  std::string source;
  hardware::ObservationRole role = hardware::ObservationRole::fit;
  double ratio = 1.0;   ///< simulated / measured, > 0
  std::size_t row = 0;  ///< number of the measurement
};

/// Groups in the order of their first errors.
std::vector<KernelGroup> kernel_groups(const std::vector<KernelError>& errors);

/// Groups of the kernels of a calibration; none without lists of kernels.
std::vector<KernelGroup> kernel_groups(const CalibrationTask& task,
                                       const std::vector<CalibrationRow>& rows);

}  // namespace equarx::calibrate
