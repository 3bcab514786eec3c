// Operand types of the GEMMs of a transformer in training.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::steps {

/// Scaling of int8, FP8 and FP4 operands, which determines the cost of casts and GEMMs
/// (models/steps/products.hpp).
enum class Scaling : std::uint8_t {
  delayed,  ///< per tensor, from amax values of earlier steps (Transformer Engine, DelayedScaling)
  current,  ///< per tensor, from its own amax, which takes a separate pass
  rows,     ///< per row of activations or column of weights: the elements summed for one result
  /// FP32 scale per 128 of these elements; results are scaled and added outside the matrix unit.
  blocks,
  mx,  ///< E8M0 scale per 32, applied by the matrix unit (OCP Microscaling Formats)
  nv,  ///< E4M3 scale per 16, applied by the matrix unit, within a per-tensor scale (NVIDIA NVFP4)
};

/// Operand types of one class of GEMMs: the forward one and its two backward ones.
struct ProductTypes {
  hardware::MatrixType forward = hardware::MatrixType::bf16;
  hardware::MatrixType input_gradient = hardware::MatrixType::bf16;
  hardware::MatrixType weight_gradient = hardware::MatrixType::bf16;
  Scaling scaling = Scaling::delayed;  ///< of scaled operand types

  bool operator==(const ProductTypes&) const = default;
};

/// Operand types of each class of GEMMs. FP8 is E4M3 or E5M2, which take the same time.
struct Precision {
  std::string_view name = "bf16";  ///< empty for custom settings
  std::string_view source;
  ProductTypes projections = {};  ///< query, key, value and output projections
  /// Scores and values; `input_gradient` applies to all their gradients.
  ProductTypes attention = {};
  ProductTypes ffn = {};
  ProductTypes head = {};  ///< logits
};

/// True for types whose operands are cast and scaled before the GEMM.
bool is_scaled(hardware::MatrixType type);

/// Default scaling of an operand type.
Scaling usual_scaling(hardware::MatrixType type);

/// True if operands of `type` can be scaled this way: int8 and FP8 in all ways but `nv`, FP4 only
/// by the matrix unit.
bool can_scale(hardware::MatrixType type, Scaling scaling);

/// GEMM class with a single operand type and its default scaling.
ProductTypes all_of(hardware::MatrixType type);

/// Named recipes: "bf16", "transformer-engine", "fp8-lm", "fog", "deepseek-v3", "aqt-int8",
/// "switchback".
std::span<const Precision> precisions();

}  // namespace equarx::steps
