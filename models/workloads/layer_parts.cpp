#include "models/workloads/layer_parts.hpp"

#include <stdexcept>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

constexpr double kFlopsPerWeight = 2.0;  // multiply and add

double activation_ops(Activation activation) {
  switch (activation) {
    case Activation::gelu: return kGelu;
    case Activation::silu: return kSilu;
    case Activation::relu: return kRelu;
    case Activation::xielu: return kXielu;
  }
  throw std::logic_error("unknown activation");
}

}  // namespace

Operation matrix(std::string_view name, const GemmShape& shape, WeightType weights) {
  Operation operation{.name = name, .kind = OperationKind::matrix};
  operation.gemm = shape;
  operation.flops = kFlopsPerWeight * shape.rows * shape.inputs * shape.outputs;
  operation.weight_bytes = shape.matrices * shape.inputs * shape.outputs * bytes_of(weights);
  operation.read_bytes = shape.rows * shape.inputs * kActivationBytes;
  operation.written_bytes = shape.rows * shape.outputs * kActivationBytes;
  operation.live_bytes = operation.read_bytes + operation.written_bytes;
  return operation;
}

Operation input_matrix(std::string_view name, const LayerContext& context, double outputs) {
  const Transformer& model = context.model;
  Operation operation = matrix(
      name,
      {.rows = context.rows, .inputs = static_cast<double>(model.d_model), .outputs = outputs},
      model.weights);
  if (model.pre_norms) operation.vector_ops = context.norm_ops();
  operation.read_bytes = context.residual_bytes();
  return operation;
}

double LayerContext::norm_ops() const { return width() * (kFromBf16 + kNormScale + kToBf16); }

Operation elementwise(std::string_view name, double elements, double operands, double ops) {
  Operation operation{.name = name, .kind = OperationKind::vector};
  operation.vector_ops = elements * (operands * kFromBf16 + ops + kToBf16);
  operation.read_bytes = operands * elements * kActivationBytes;
  operation.written_bytes = elements * kActivationBytes;
  operation.live_bytes = operation.read_bytes + operation.written_bytes;
  return operation;
}

double inner_matrices(const Transformer& model) { return model.gated_ffn ? 2.0 : 1.0; }

Operation activation(std::string_view name, const Transformer& model, double elements) {
  const double gating = model.gated_ffn ? kMultiply : 0.0;
  return elementwise(name, elements, inner_matrices(model),
                     activation_ops(model.activation) + gating);
}

}  // namespace equarx::workloads
