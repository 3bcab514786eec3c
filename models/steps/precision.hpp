// Which type the matrix products of a transformer have.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::steps {

/// What the operands of each class of matrix products are, forward and backward.
///
/// bf16 operands are as they lie in HBM. For int8 and FP8, each operand of a product is cast once, by a pass of its own
/// that reads 2 bytes of an element and writes 1, and finds the abs-max for the next scale on its way (delayed scaling,
/// one scale for a tensor: Transformer Engine's DelayedScaling, arXiv 2209.05433): activations and weights before the
/// forward products, queries, keys and values before attention's, the gradient of the result before the backward ones.
/// These use the casts of the forward pass where they are still there. Else they cast again: weights that were freed
/// and gathered anew, and activations wherever rematerialisation keeps only some, in bf16.
struct Precision {
  std::string_view name = "bf16";
  std::string_view source;
  hardware::MatrixType projections =
      hardware::MatrixType::bf16;                               ///< q, k, v and output of attention
  hardware::MatrixType attention = hardware::MatrixType::bf16;  ///< scores, and values
  hardware::MatrixType ffn = hardware::MatrixType::bf16;
  hardware::MatrixType head = hardware::MatrixType::bf16;  ///< logits
};

/// The recipes that have a name: "bf16", "transformer-engine", "fp8-lm", "fog".
std::span<const Precision> precisions();

}  // namespace equarx::steps
