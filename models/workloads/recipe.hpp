// Weight storage and GEMM types in serving.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operations.hpp"

namespace equarx::workloads {

/// Applies to the weight matrices of all layers; vocabulary tables are unchanged.
///
/// With int8 or FP8 GEMMs, activations are quantized per token within the operation that reads them
/// (ZeroQuant, section 4.2), and results are scaled back. With bf16 GEMMs, weights of fewer bits
/// are decoded first, once per GEMM.
struct Recipe {
  std::string_view name = "bf16";
  std::string_view source;
  hardware::MatrixType products = hardware::MatrixType::bf16;
  /// Bits per weight in HBM, including its share of the scales; 0: unchanged.
  double weight_bits = 0.0;
  double decode_ops = 0.0;  ///< vector operations to decode a stored weight to bf16
};

/// Named recipes: "bf16", "zeroquant", "fp8", "weight-only-int8", "weight-only-int4",
/// "weight-only-3bit".
std::span<const Recipe> recipes();

/// Applies a recipe to the GEMMs of a phase's layers. `stored` is the weight type they were built
/// for.
void apply(const Recipe& recipe, WeightType stored, PhaseOperations& operations);

/// Applies a recipe to one GEMM.
void apply(const Recipe& recipe, WeightType stored, Operation& product);

}  // namespace equarx::workloads
