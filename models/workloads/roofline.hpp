// Roofline time of one operation on an otherwise idle chip.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/hardware/chip.hpp"
#include "models/hardware/matrix_products.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::workloads {

/// Rate limits of a chip. Above 0, except for the overhead and for unsupported operand types.
struct ComputeRates {
  /// Peak FLOP/s of the matrix unit, by hardware::MatrixType; 0 for unsupported types.
  std::array<double, hardware::kMatrixTypes.size()> matrix_flops_per_s{};
  double matrix_efficiency = 1.0;  ///< fraction of the peak that GEMMs reach, (0, 1]
  double vector_ops_per_s = 0.0;   ///< FP32 lanes
  double hbm_bytes_per_s = 0.0;
  double operation_overhead_s = 0.0;                          ///< startup time per operation
  const hardware::MatrixProducts* matrix_products = nullptr;  ///< efficiency by size, if known
};

/// Rates of a chip, which must outlive them.
ComputeRates compute_rates(const hardware::Chip& chip);

/// Limiting resource of an operation.
enum class Roof : std::uint8_t { matrix, vector, hbm };

std::string_view name(Roof roof);

/// Time of an operation, and its limit.
struct OperationTime {
  double seconds = 0.0;  ///< including overhead
  Roof roof = Roof::hbm;
};

/// Matrix unit, vector unit and HBM work concurrently, so the slowest determines the time:
/// @throws std::logic_error for an AllReduce, which is timed as a collective.
/// @throws std::invalid_argument for GEMMs of a type that the chip does not support.
OperationTime roofline(const Operation& operation, const ComputeRates& rates);

}  // namespace equarx::workloads
