// How long one operation takes on a chip that does nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/hardware/chip.hpp"
#include "models/hardware/matrix_products.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::workloads {

/// The rates of a chip that operations run into. Above 0, but for the overhead, and products that it does not have.
struct ComputeRates {
  /// Peak of the matrix unit, by hardware::MatrixType; 0 of what a chip has no products of.
  std::array<double, hardware::kMatrixTypes.size()> matrix_flops_per_s{};
  double matrix_efficiency = 1.0;  ///< share of the peak that matrix products reach, (0, 1]
  double vector_ops_per_s = 0.0;   ///< FP32 lanes
  double hbm_bytes_per_s = 0.0;
  double operation_overhead_s = 0.0;                          ///< to start one operation
  const hardware::MatrixProducts* matrix_products = nullptr;  ///< small ones reach less, if known
};

/// The rates of a chip, which must outlive them.
ComputeRates compute_rates(const hardware::Chip& chip);

/// What an operation waits for.
enum class Roof : std::uint8_t { matrix, vector, hbm };

std::string_view name(Roof roof);

/// How long a chip takes for an operation, and what limits it.
struct OperationTime {
  double seconds = 0.0;  ///< overhead included
  Roof roof = Roof::hbm;
};

/// The three units work at the same time, so the slowest decides:
///   max(flops / (peak x efficiency x share of its size), vector ops / rate, HBM bytes / bandwidth) + overhead,
/// as many times as it is done.
/// @throws std::logic_error for an AllReduce, whose time is the collective's.
/// @throws std::invalid_argument for products of a type that the chip has no rate for.
OperationTime roofline(const Operation& operation, const ComputeRates& rates);

}  // namespace equarx::workloads
