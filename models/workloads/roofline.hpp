// Time of one operation on an otherwise idle chip: a start, and the slowest of its resources.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/hardware/chip.hpp"
#include "models/hardware/matrix_products.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::workloads {

/// A number for each hardware::MatrixType, indexed by its value.
using ByMatrixType = std::array<double, hardware::kMatrixTypes.size()>;

/// Rates that the operations of a chip reach. Above 0 unless stated otherwise.
struct ComputeRates {
  ByMatrixType gemm_flops_per_s{};  ///< 0 for unsupported types
  /// Rates of other kernels relative to GEMMs of the same type.
  double convolution_share = 1.0;
  double attention_share = 1.0;
  double attention_backward_share = 1.0;
  double decoded_share = 1.0;          ///< of GEMMs that decode weights
  double vector_ops_per_s = 0.0;       ///< FP32 lanes
  double comparisons_per_s = 0.0;      ///< of sorts
  double decoded_weights_per_s = 0.0;  ///< 0: decoding is hidden
  double hbm_bytes_per_s = 0.0;
  double gemm_hbm_bytes_per_s = 0.0;  ///< of operations with FLOPs
  double amax_hbm_bytes_per_s = 0.0;  ///< of Kernel::amax
  // At least 0.
  double operation_startup_s = 0.0;
  double gemm_startup_s = 0.0;
  double attention_row_s = 0.0;
  double step_overhead = 0.0;  ///< share of the time of `training_flops` in bf16
  const hardware::MatrixProducts* matrix_products = nullptr;  ///< efficiency by size, if known
};

/// Rates of a chip, which must outlive them. An absent parameter is replaced by the one that it
/// refines: the start of a GEMM by that of any operation, this one by `instruction_overhead`, shares
/// by `matrix_efficiency` and `hbm_efficiency`, the rate of sorts by `vector_rate`.
ComputeRates compute_rates(const hardware::Chip& chip);

/// Limiting resource of an operation.
enum class Roof : std::uint8_t { matrix, vector, hbm };

std::string_view name(Roof roof);

/// Time of an operation, and its limit.
struct OperationTime {
  double seconds = 0.0;  ///< including its start
  Roof roof = Roof::hbm;
};

/// Start of an operation, in s, once.
double startup_s(const Operation& operation, const ComputeRates& rates);

/// Time in s for which an operation keeps the matrix unit or HBM busy, with all repetitions.
/// @throws std::invalid_argument as roofline()
double busy_s(const Operation& operation, const ComputeRates& rates);

/// Matrix unit, vector unit and HBM work concurrently, so the slowest determines the time after the
/// start (docs/workloads.md, W8). Fused attention adds `attention_row_s` per row to its
/// products; training steps add their overhead to the result.
/// @throws std::logic_error for an AllReduce, which is timed as a collective.
/// @throws std::invalid_argument for GEMMs of a type that the chip does not support.
OperationTime roofline(const Operation& operation, const ComputeRates& rates);

}  // namespace equarx::workloads
