// FLOPs of matrix multiplications in HLO, from their dimension numbers.
#pragma once

#include <optional>

#include "importers/hlo/module.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::hlo {

/// A matrix multiplication, convolution or fused attention.
struct Product {
  double flops = 0.0;  ///< 2 per multiply-add; 8 for complex numbers
  /// Passes over the matrix unit: operand_precision "high" takes three bf16 products on a TPU,
  /// "highest" six (xla/xla_data.proto, PrecisionConfig; jax.lax.Precision).
  double passes = 1.0;
  hardware::MatrixType type = hardware::MatrixType::bf16;
  workloads::Kernel kernel = workloads::Kernel::usual;
  double attention_rows = 0.0;  ///< workloads::Operation::attention_rows
};

/// Returns the product of a dot, ragged-dot, scaled-dot or convolution, or of a custom-call of
/// cuBLAS (GEMMs) or cuDNN (convolutions, and attention with its mask). Returns std::nullopt for
/// other instructions and if dimension numbers do not match the operand shapes. As in XLA's
/// HloCostAnalysis, a convolution does not count padding or the gaps between dilated elements; those
/// of cuDNN do. A ragged-dot counts every row once.
std::optional<Product> product_of(const Instruction& instruction, const Computation& computation);

}  // namespace equarx::hlo
