// FLOPs of matrix multiplications in HLO, from their dimension numbers.
#pragma once

#include <optional>
#include <string_view>

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
  double attention_rows = 0.0;       ///< workloads::Operation::attention_rows
  std::string_view assumption = {};  ///< of its FLOPs, for notes; may be empty
};

/// Shape of an operand; nullptr if it is missing or a tuple.
const Shape* array_of(const Instruction& instruction, std::size_t operand,
                      const Computation& computation);

/// A product of this many multiply-adds of the elements of `left` and `right`.
Product product_made(const Instruction& instruction, const Shape& left, const Shape& right,
                     double multiplications);

/// Returns the product of a dot, ragged-dot, scaled-dot or convolution, or of a custom-call: GEMMs
/// of cuBLAS, convolutions of cuDNN, attention (attention_of()), and grouped GEMMs by their shapes.
/// Returns std::nullopt for
/// other instructions and if dimension numbers do not match the operand shapes. As in XLA's
/// HloCostAnalysis, a convolution does not count padding or the gaps between dilated elements; those
/// of cuDNN do. A ragged-dot counts every row once.
std::optional<Product> product_of(const Instruction& instruction, const Computation& computation);

}  // namespace equarx::hlo
