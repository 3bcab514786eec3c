#include "models/steps/products.hpp"

#include <algorithm>

#include "models/formats/vector_work.hpp"
#include "models/steps/training.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::steps {
namespace {

using hardware::MatrixType;
using numerics::ElementFormat;
using workloads::kActivationBytes;
using workloads::Operation;
using workloads::OperationKind;

constexpr double kBitsPerByte = 8.0;
constexpr double kBlock = 128.0;  // of Scaling::blocks
constexpr double kAmax = 2.0;     // absolute value, maximum

ElementFormat code_of(MatrixType type) {
  if (type == MatrixType::int8) return ElementFormat::int8;
  return type == MatrixType::fp4 ? ElementFormat::fp4_e2m1 : ElementFormat::fp8_e4m3;
}

/// Scale bytes per element. Those of rows and tensors are negligible.
double scale_bytes(Scaling scaling, bool of_weights) {
  constexpr double kFp32 = 4.0;
  constexpr double kMxBlock = 32.0;
  constexpr double kNvBlock = 16.0;
  switch (scaling) {
    case Scaling::delayed:
    case Scaling::current:
    case Scaling::rows: return 0.0;
    case Scaling::blocks: return kFp32 / (of_weights ? kBlock * kBlock : kBlock);
    case Scaling::mx: return 1.0 / kMxBlock;
    case Scaling::nv: return 1.0 / kNvBlock;
  }
  return 0.0;
}

/// Bytes per operand element, including its share of the scales.
double code_bytes(MatrixType type, Scaling scaling, bool of_weights) {
  return static_cast<double>(numerics::element_bits(code_of(type))) / kBitsPerByte +
         scale_bytes(scaling, of_weights);
}

/// True if quantizing needs the amax of the whole tensor first.
bool has_amax_pass(Scaling scaling) {
  return scaling == Scaling::current || scaling == Scaling::nv;
}

/// True if a cast can also be used by a GEMM that sums along another axis of the operand.
bool serves_both(Scaling scaling, bool of_weights) {
  return scaling == Scaling::delayed || scaling == Scaling::current ||
         (scaling == Scaling::blocks && of_weights);
}

Operation amax_pass(double elements) {
  Operation operation{.name = "find_amax", .kind = OperationKind::vector};
  operation.vector_ops = elements * (workloads::kFromBf16 + kAmax);
  operation.read_bytes = elements * kActivationBytes;
  return operation;
}

/// Cast of bf16 operands before a GEMM. `copies`: how often the result is written.
Operations cast_operands(std::string_view name, double elements, MatrixType type, Scaling scaling,
                         bool of_weights, double copies) {
  const double amax_ops = scaling == Scaling::current ? 0.0 : kAmax;
  Operation operation{.name = name, .kind = OperationKind::vector};
  if (scaling == Scaling::delayed) operation.kernel = workloads::Kernel::amax;
  operation.vector_ops = elements * (workloads::kFromBf16 + workloads::kMultiply + amax_ops +
                                     numerics::encode_operations(code_of(type)));
  operation.read_bytes = elements * kActivationBytes;
  operation.written_bytes = elements * copies * code_bytes(type, scaling, of_weights);
  if (has_amax_pass(scaling)) return {amax_pass(elements), operation};
  return {operation};
}

}  // namespace

void append(Operations& operations, const Operations& more) {
  operations.insert(operations.end(), more.begin(), more.end());
}

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
  inputs_ = rows_ * weights_ / (results_ / rows_);  // rows x inputs, of a matrix inputs x outputs
}

Operations Products::cast(const char* name, double elements, MatrixType type,
                          bool of_weights) const {
  const double copies = serves_both(types_.scaling, of_weights) ? copies_ : 1.0;
  return cast_operands(name, elements, type, types_.scaling, of_weights, copies);
}

double Products::operand_bytes(MatrixType type, double plain_bytes, bool of_weights) const {
  return is_scaled(type) ? code_bytes(type, types_.scaling, of_weights) : plain_bytes;
}

/// Vector operations to scale `results` sums of `summed` products each.
double Products::scaling_ops(MatrixType type, double results, double summed) const {
  constexpr double kTwoScales = 2.0 * workloads::kMultiply;
  if (!is_scaled(type)) return 0.0;
  if (types_.scaling == Scaling::rows) return results * kTwoScales;
  if (types_.scaling != Scaling::blocks) return 0.0;
  return results * (workloads::kMultiply + workloads::kAdd) * std::max(1.0, summed / kBlock);
}

Operations Products::forward(Casts weights) const {
  const MatrixType type = types_.forward;
  Operation product = forward_;
  product.products = type;
  product.weight_bytes = weights_ * operand_bytes(type, kActivationBytes, true);
  product.read_bytes = inputs_ * operand_bytes(type, kActivationBytes, false);
  product.written_bytes = results_ * result_bytes(type);
  product.vector_ops += scaling_ops(type, results_, inputs_ / rows_);
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
  const bool already_cast = of_inputs == of_weights && serves_both(types_.scaling, false);
  if (is_scaled(of_weights) && !already_cast)
    append(all, cast("cast_gradients", results_, of_weights, false));
  const bool keeps_weights = types_.forward == of_inputs && serves_both(types_.scaling, true);
  if (is_scaled(of_inputs) && !(keeps_weights ? kept.weights : kept.backward_weights))
    append(all, cast("cast_weights", weights_, of_inputs, true));
  const bool keeps_inputs = types_.forward == of_weights && serves_both(types_.scaling, false);
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
  of_inputs.vector_ops += scaling_ops(in, inputs_, results_ / rows_);
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
  return cast_operands(name, elements, type, types_.scaling, false, 1.0);
}

Operations AttentionProducts::forward() const {
  Operation fused = forward_;
  fused.products = types_.forward;
  if (!is_scaled(types_.forward)) return {fused};
  const double operands = forward_.read_bytes / kActivationBytes;  // queries, keys and values
  fused.read_bytes = operands * code_bytes(types_.forward, types_.scaling, false);
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
  const double bytes = is_scaled(type) ? code_bytes(type, types_.scaling, false) : kActivationBytes;
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
