// FLOPs of matrix products in HLO, from their dimension numbers.
#pragma once

#include <optional>

#include "models/hardware/matrix_rate.hpp"
#include "models/hlo/module.hpp"

namespace equarx::hlo {

/// A matrix product.
struct Product {
  double flops = 0.0;  ///< 2 for each multiplication and addition; 8 of complex numbers
  /// How often the matrix unit goes over it: operand_precision "high" is three products of bf16 on a TPU, "highest" six
  /// (xla/xla_data.proto, PrecisionConfig; jax.lax.Precision).
  double passes = 1.0;
  hardware::MatrixType type = hardware::MatrixType::bf16;
};

/// Of dot, ragged-dot, scaled-dot, convolution, and the custom-calls that cuBLAS products are; none of others, and where
/// dimension numbers do not fit the operands' shapes. A convolution counts what it multiplies: nothing of the padding,
/// and nothing between dilated elements, as XLA's HloCostAnalysis counts. A ragged-dot counts every row once.
std::optional<Product> product_of(const Instruction& instruction, const Computation& computation);

}  // namespace equarx::hlo
