#include "models/steps/products.hpp"

#include "models/steps/scaling.hpp"
#include "models/steps/training.hpp"
#include "models/workloads/cast_work.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/scheme_work.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::steps {
namespace {

using hardware::MatrixType;
using workloads::kActivationBytes;
using workloads::Operation;
using workloads::OperationKind;

/// Format of a cast operand.
stored::StoredFormat format_of(MatrixType type, Scaling scaling, bool of_weights) {
  const gemm::Scheme scheme = scheme_of(type, scaling);
  return (of_weights ? scheme.weights : scheme.activations).value();
}

Operation amax_pass(double elements, double ops) {
  Operation operation{.name = "find_amax", .kind = OperationKind::vector};
  operation.vector_ops = elements * ops;
  operation.read_bytes = elements * kActivationBytes;
  return operation;
}

/// Cast of bf16 operands before a GEMM. `copies`: how often the result is written.
Operations cast_operands(std::string_view name, double elements, const stored::StoredFormat& format,
                         double copies) {
  const workloads::CastWork work = workloads::cast_work(format, elements);
  Operation operation{.name = name, .kind = OperationKind::vector};
  operation.vector_ops = elements * (workloads::kFromBf16 + work.vector_ops);
  operation.read_bytes = elements * kActivationBytes;
  operation.written_bytes = elements * copies * bytes_per_element(format);
  if (format.scale.rule == stored::RangeRule::given) {  // the amax sets the scale of a later step
    operation.kernel = workloads::Kernel::amax;
    operation.vector_ops += elements * workloads::kRange;
  }
  if (work.pass_ops > 0.0) return {amax_pass(elements, work.pass_ops), operation};
  return {operation};
}

}  // namespace

double result_bytes(MatrixType type) {
  constexpr double kFp32 = 4.0;
  return type == MatrixType::fp32 ? kFp32 : kActivationBytes;
}

Products::Products(const Operation& forward, const ProductTypes& types, double copies)
    : forward_(forward), types_(types), copies_(copies) {
  forward_.training_flops = forward.flops;
  constexpr double kFlopsPerWeight = 2.0;
  weights_ = forward.weight_bytes / kActivationBytes;
  results_ = forward.written_bytes / kActivationBytes;
  rows_ = forward.flops / (kFlopsPerWeight * weights_);
  const double all_rows = rows_ * forward.gemm.matrices;
  width_ = forward.flops / (kFlopsPerWeight * results_);
  inputs_ = all_rows * width_;
}

Operations Products::cast(const char* name, double elements, MatrixType type,
                          bool of_weights) const {
  const stored::StoredFormat format = format_of(type, types_.scaling, of_weights);
  return cast_operands(name, elements, format, serves_both_axes(format) ? copies_ : 1.0);
}

double Products::operand_bytes(MatrixType type, double plain_bytes, bool of_weights) const {
  return is_scaled(type) ? bytes_per_element(format_of(type, types_.scaling, of_weights))
                         : plain_bytes;
}

/// Vector operations to scale `results` sums of `summed` products each.
double Products::scaling_ops(MatrixType type, double results, double summed) const {
  if (!is_scaled(type)) return 0.0;
  return workloads::result_ops(scheme_of(type, types_.scaling), {1.0, summed, results});
}

Operations Products::forward(Casts weights) const {
  const MatrixType type = types_.forward;
  Operation product = forward_;
  product.products = type;
  product.weight_bytes = weights_ * operand_bytes(type, kActivationBytes, true);
  product.read_bytes = inputs_ * operand_bytes(type, kActivationBytes, false);
  product.written_bytes = results_ * result_bytes(type);
  product.vector_ops += scaling_ops(type, results_, width_);
  Operations all;
  if (is_scaled(type)) {
    if (weights == Casts::uncached) append(all, cast("cast_weights", weights_, type, true));
    append(all, cast("cast_inputs", inputs_, type, false));
  }
  all.push_back(product);
  return all;
}

Operations Products::casts_backward(const KeptCasts& kept) const {
  const MatrixType of_inputs = types_.input_gradient;
  const MatrixType of_weights = types_.weight_gradient;
  Operations all;
  if (is_scaled(of_inputs)) append(all, cast("cast_gradients", results_, of_inputs, false));
  const auto serves_both = [&](MatrixType type, bool weights) {
    return is_scaled(type) && serves_both_axes(format_of(type, types_.scaling, weights));
  };
  const bool already_cast = of_inputs == of_weights && serves_both(of_inputs, false);
  if (is_scaled(of_weights) && !already_cast)
    append(all, cast("cast_gradients", results_, of_weights, false));
  const bool keeps_weights = types_.forward == of_inputs && serves_both(of_inputs, true);
  if (is_scaled(of_inputs) && !(keeps_weights ? kept.weights : kept.backward_weights))
    append(all, cast("cast_weights", weights_, of_inputs, true));
  const bool keeps_inputs = types_.forward == of_weights && serves_both(of_weights, false);
  if (is_scaled(of_weights) && !(keeps_inputs && kept.inputs))
    append(all, cast("cast_inputs", inputs_, of_weights, false));
  return all;
}

Operations Products::backward(const KeptCasts& kept, const GradientSum& sum) const {
  const MatrixType in = types_.input_gradient;
  const MatrixType weight = types_.weight_gradient;
  const double gradient_bytes = result_bytes(types_.forward);
  Operation of_inputs = forward_;
  of_inputs.name = "input_gradient";
  of_inputs.products = in;
  of_inputs.weight_bytes = weights_ * operand_bytes(in, kActivationBytes, true);
  of_inputs.read_bytes = results_ * operand_bytes(in, gradient_bytes, false);
  of_inputs.written_bytes = inputs_ * kActivationBytes;
  of_inputs.vector_ops += scaling_ops(in, inputs_, results_ * width_ / inputs_);
  Operation of_weights = forward_;
  of_weights.name = "weight_gradient";
  of_weights.products = weight;
  of_weights.weight_bytes = 0.0;
  of_weights.read_bytes = results_ * operand_bytes(weight, gradient_bytes, false) +
                          inputs_ * operand_bytes(weight, kActivationBytes, false);
  of_weights.written_bytes = weights_ * sum.written_bytes;
  of_weights.vector_ops += scaling_ops(weight, weights_, rows_);
  if (sum.how == GradientSum::How::by_product) {
    of_weights.read_bytes += weights_ * sum.stored_bytes;
    of_weights.written_bytes = weights_ * sum.stored_bytes;
  }
  Operations all = casts_backward(kept);
  append(all, {of_inputs, of_weights});
  return all;
}

AttentionProducts::AttentionProducts(const Operation& forward, const ProductTypes& types)
    : forward_(forward), types_(types) {
  forward_.training_flops = forward.flops;
}

Operations AttentionProducts::cast(const char* name, double elements, MatrixType type) const {
  return cast_operands(name, elements, format_of(type, types_.scaling, false), 1.0);
}

Operations AttentionProducts::forward() const {
  Operation fused = forward_;
  fused.products = types_.forward;
  if (!is_scaled(types_.forward)) return {fused};
  const double operands = forward_.read_bytes / kActivationBytes;  // queries, keys and values
  fused.read_bytes = operands * bytes_per_element(format_of(types_.forward, types_.scaling, false));
  Operations all = cast("cast_inputs", operands, types_.forward);
  all.push_back(fused);
  return all;
}

Operations AttentionProducts::backward(const KeptCasts& kept) const {
  constexpr double kExtraOps = 3.0;  // per score: subtract, multiply, scale
  const MatrixType type = types_.input_gradient;
  const double scores = forward_.vector_ops / (workloads::kSoftmax + workloads::kToBf16);
  const double operands = forward_.read_bytes / kActivationBytes;
  const double results = forward_.written_bytes / kActivationBytes;
  const double bytes = is_scaled(type) ? bytes_per_element(format_of(type, types_.scaling, false))
                                       : kActivationBytes;
  Operation gradient = forward_;
  gradient.name = "attention_gradient";
  gradient.products = type;
  gradient.kernel = workloads::Kernel::attention_backward;
  gradient.flops *= workloads::kBackwardProducts / workloads::kForwardProducts;
  gradient.training_flops = gradient.flops;
  gradient.attention_rows *= workloads::kBackwardProducts / workloads::kForwardProducts;
  gradient.vector_ops += scores * (kExtraOps + workloads::kToBf16);
  // The GEMMs read queries, keys, values and the gradient of the result, but not the result itself.
  gradient.read_bytes = (operands + results) * bytes + forward_.written_bytes;
  gradient.written_bytes = forward_.read_bytes;  // gradients of queries, keys and values
  Operations all;
  if (is_scaled(type)) {
    all = cast("cast_gradients", results, type);
    if (!kept.inputs || types_.forward != type) append(all, cast("cast_inputs", operands, type));
  }
  all.push_back(gradient);
  return all;
}

}  // namespace equarx::steps
