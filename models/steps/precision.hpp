// Which type the matrix products of a transformer that is trained have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::steps {

/// How operands of int8, FP8 and FP4 are scaled, and so what their casts and products take (models/steps/products.hpp).
enum class Scaling : std::uint8_t {
  delayed,  ///< one scale for a tensor, of what was seen in steps before (Transformer Engine's DelayedScaling)
  current,  ///< one scale for a tensor, of its own amax, which a pass of its own finds
  rows,     ///< one for what is summed for one result: a row of activations, a column of weights
  blocks,  ///< one for each 128 of these, FP32; results are scaled and added outside of the matrix unit
  mx,      ///< one for each 32, E8M0, which the matrix unit applies (OCP Microscaling Formats)
  nv,      ///< one for each 16, E4M3, which it applies, within one for the tensor (NVIDIA's NVFP4)
};

/// The operands of one class of products: forward, and of its two backward products.
struct ProductTypes {
  hardware::MatrixType forward = hardware::MatrixType::bf16;
  hardware::MatrixType input_gradient = hardware::MatrixType::bf16;
  hardware::MatrixType weight_gradient = hardware::MatrixType::bf16;
  Scaling scaling = Scaling::delayed;  ///< of those that are scaled

  bool operator==(const ProductTypes&) const = default;
};

/// What the operands of each class of matrix products are. FP8 is E4M3 or E5M2: they take the same time.
struct Precision {
  std::string_view name = "bf16";  ///< empty: it is nobody's recipe
  std::string_view source;
  ProductTypes projections = {};  ///< q, k, v and output of attention
  ProductTypes attention =
      {};  ///< scores, and values; "input_gradient" are all gradients of theirs
  ProductTypes ffn = {};
  ProductTypes head = {};  ///< logits
};

/// Whether operands of a type are cast and scaled before they are multiplied.
bool is_scaled(hardware::MatrixType type);

/// What operands of a type are scaled by where nothing is said.
Scaling usual_scaling(hardware::MatrixType type);

/// Whether operands of a type can be scaled so. int8 and FP8 not as `nv`, FP4 by the matrix unit only.
bool can_scale(hardware::MatrixType type, Scaling scaling);

/// All products of a class of one type, scaled as usual.
ProductTypes all_of(hardware::MatrixType type);

/// The recipes that have a name: "bf16", "transformer-engine", "fp8-lm", "fog", "deepseek-v3", "aqt-int8", "switchback".
std::span<const Precision> precisions();

}  // namespace equarx::steps
