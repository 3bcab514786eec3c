#include "models/workloads/recipe.hpp"

#include <array>
#include <vector>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

using hardware::MatrixType;
using numerics::ElementFormat;

constexpr double kScaleBits = 16.0;       // of a group of weights
constexpr double kFineQuantGroup = 64.0;  // weights
constexpr double kFluteGroup = 128.0;     // weights
constexpr double kTableOps = 4.0;         // unpack over byte borders (3), look up
constexpr double kScaleAndStore = kMultiply + kToBf16;

constexpr double decoded_from(ElementFormat format) {
  return numerics::decode_operations(format) + kScaleAndStore;
}

/// Vector operations to quantize an element of an activation that is at hand: amax of its token, scale, encode.
double quantize_ops(MatrixType type) {
  constexpr double kAmax = 2.0;
  const auto to = type == MatrixType::int8 ? ElementFormat::int8 : ElementFormat::fp8_e4m3;
  return kAmax + kMultiply + numerics::encode_operations(to);
}

void apply(const Recipe& recipe, WeightType stored, Operation& product) {
  constexpr double kBitsPerByte = 8.0;
  const double weights = product.weight_bytes / bytes_of(stored);
  if (recipe.weight_bits > 0.0) product.weight_bytes = weights * recipe.weight_bits / kBitsPerByte;
  product.weight_ops = weights * recipe.decode_ops;
  product.vector_ops += product.weight_ops;
  product.products = recipe.products;
  if (recipe.products == MatrixType::bf16) return;
  constexpr double kFlopsPerWeight = 2.0;
  const double rows = product.flops / kFlopsPerWeight / weights;
  const double results = product.written_bytes / kActivationBytes;
  const double inputs = rows * weights / (results / rows);  // of rows x inputs and inputs x outputs
  constexpr double kScales = 2.0;                           // of the token, and of the weights
  product.vector_ops += inputs * quantize_ops(recipe.products) + results * kScales * kMultiply;
}

}  // namespace

std::span<const Recipe> recipes() {
  static constexpr std::array kAll = {
      Recipe{},
      Recipe{.name = "zeroquant",
             .source = "ZeroQuant (arXiv 2206.01861): weights in int8 by groups, activations in "
                       "int8 by tokens, scales found as they go",
             .products = MatrixType::int8,
             .weight_bits = 8.0},
      Recipe{.name = "fp8",
             .source = "W8A8 in FP8 E4M3, as vLLM's dynamic scheme has it: a scale for each "
                       "column of weights and each token",
             .products = MatrixType::fp8,
             .weight_bits = 8.0},
      Recipe{.name = "weight-only-int8",
             .source = "FineQuant (arXiv 2308.09723): weights in int8, a scale of 16 bits for 64",
             .weight_bits = 8.0 + kScaleBits / kFineQuantGroup,
             .decode_ops = decoded_from(ElementFormat::int8)},
      Recipe{.name = "weight-only-int4",
             .source = "FineQuant (arXiv 2308.09723): weights in int4, a scale of 16 bits for 64",
             .weight_bits = 4.0 + kScaleBits / kFineQuantGroup,
             .decode_ops = decoded_from(ElementFormat::int4)},
      Recipe{.name = "weight-only-3bit",
             .source = "FLUTE (arXiv 2407.10960): weights as 3-bit places of a table, a scale of "
                       "16 bits for 128",
             .weight_bits = 3.0 + kScaleBits / kFluteGroup,
             .decode_ops = kTableOps + kScaleAndStore},
  };
  return kAll;
}

void apply(const Recipe& recipe, WeightType stored, PhaseOperations& operations) {
  for (std::vector<Operation>* layer : {&operations.local_layer, &operations.global_layer})
    for (Operation& operation : *layer)
      if (operation.kind == OperationKind::matrix) apply(recipe, stored, operation);
}

}  // namespace equarx::workloads
