#include "models/workloads/recipe.hpp"

#include <array>
#include <vector>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

using hardware::MatrixType;
using numerics::ElementFormat;

constexpr double kScaleBits = 16.0;       // per group of weights
constexpr double kFineQuantGroup = 64.0;  // weights
constexpr double kFluteGroup = 128.0;     // weights
constexpr double kTableOps = 4.0;         // unpack across byte boundaries (3), table lookup
constexpr double kScaleAndStore = kMultiply + kToBf16;

constexpr double decoded_from(ElementFormat format) {
  return numerics::decode_operations(format) + kScaleAndStore;
}

/// Vector operations to quantize an activation element already in registers: amax of its token,
/// scale, encode.
double quantize_ops(MatrixType type) {
  constexpr double kAmax = 2.0;
  const auto to = type == MatrixType::int8 ? ElementFormat::int8 : ElementFormat::fp8_e4m3;
  return kAmax + kMultiply + numerics::encode_operations(to);
}

}  // namespace

std::span<const Recipe> recipes() {
  static constexpr std::array kAll = {
      Recipe{},
      Recipe{.name = "zeroquant",
             .source = "ZeroQuant (arXiv 2206.01861): weights in int8 by groups, activations in "
                       "int8 by token, with dynamic scales",
             .products = MatrixType::int8,
             .weight_bits = 8.0},
      Recipe{.name = "fp8",
             .source = "W8A8 in FP8 E4M3 like vLLM's dynamic scheme: a scale per column of "
                       "weights and per token",
             .products = MatrixType::fp8,
             .weight_bits = 8.0},
      Recipe{.name = "weight-only-int8",
             .source = "FineQuant (arXiv 2308.09723): weights in int8, a 16-bit scale per 64",
             .weight_bits = 8.0 + kScaleBits / kFineQuantGroup,
             .decode_ops = decoded_from(ElementFormat::int8)},
      Recipe{.name = "weight-only-int4",
             .source = "FineQuant (arXiv 2308.09723): weights in int4, a 16-bit scale per 64",
             .weight_bits = 4.0 + kScaleBits / kFineQuantGroup,
             .decode_ops = decoded_from(ElementFormat::int4)},
      Recipe{.name = "weight-only-3bit",
             .source = "FLUTE (arXiv 2407.10960): weights as 3-bit indices into a table, a "
                       "16-bit scale per 128",
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

void apply(const Recipe& recipe, WeightType stored, Operation& product) {
  constexpr double kBitsPerByte = 8.0;
  const double weights = product.weight_bytes / bytes_of(stored);
  if (recipe.weight_bits > 0.0) product.weight_bytes = weights * recipe.weight_bits / kBitsPerByte;
  product.weight_ops = weights * recipe.decode_ops;
  if (recipe.decode_ops > 0.0) product.decoded_weights = weights;
  product.vector_ops += product.weight_ops;
  product.products = recipe.products;
  if (recipe.products == MatrixType::bf16) return;
  constexpr double kFlopsPerWeight = 2.0;
  const double rows = product.flops / kFlopsPerWeight / weights;
  const double results = product.written_bytes / kActivationBytes;
  // (rows x inputs) times (inputs x outputs).
  const double inputs = rows * weights / (results / rows);
  constexpr double kScales = 2.0;  // per token, and per column of weights
  product.vector_ops += inputs * quantize_ops(recipe.products) + results * kScales * kMultiply;
}

}  // namespace equarx::workloads
