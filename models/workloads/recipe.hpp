// How weights are stored and multiplied where a model is served.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operations.hpp"

namespace equarx::workloads {

/// Of the matrices of all layers; tables of the vocabulary stay as they are.
///
/// Where int8 or FP8 is multiplied, activations are quantized token by token within the operation that reads them
/// (ZeroQuant, section 4.2), and results are scaled back. Where bf16 is multiplied, weights of fewer bits are decoded
/// before, once for each product.
struct Recipe {
  std::string_view name = "bf16";
  std::string_view source;
  hardware::MatrixType products = hardware::MatrixType::bf16;
  /// Of one weight in HBM, with its share of the scales; 0: as the model stores them.
  double weight_bits = 0.0;
  double decode_ops = 0.0;  ///< vector operations to make a bf16 of a stored weight
};

/// Those that have a name: "bf16", "zeroquant", "fp8", "weight-only-int8", "weight-only-int4", "weight-only-3bit".
std::span<const Recipe> recipes();

/// Makes the matrix products of a phase's layers those of a recipe. `stored`: what they were made for
void apply(const Recipe& recipe, WeightType stored, PhaseOperations& operations);

}  // namespace equarx::workloads
