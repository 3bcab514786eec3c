#include "models/workloads/operations.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

constexpr double kFlopsPerWeight = 2.0;  // multiply and add

/// GEMM of `rows` activations with a weight matrix.
Operation matrix(std::string_view name, double rows, double inputs, double outputs,
                 WeightType weights) {
  Operation operation{.name = name, .kind = OperationKind::matrix};
  operation.gemm = {rows, inputs, outputs};
  operation.flops = kFlopsPerWeight * rows * inputs * outputs;
  operation.weight_bytes = inputs * outputs * bytes_of(weights);
  operation.read_bytes = rows * inputs * kActivationBytes;
  operation.written_bytes = rows * outputs * kActivationBytes;
  operation.live_bytes = operation.read_bytes + operation.written_bytes;
  return operation;
}

/// Element-wise operation: `ops` per element of a result, computed from `operands` arrays of the
/// same size.
Operation elementwise(std::string_view name, double elements, double operands, double ops) {
  Operation operation{.name = name, .kind = OperationKind::vector};
  operation.vector_ops = elements * (operands * kFromBf16 + ops + kToBf16);
  operation.read_bytes = operands * elements * kActivationBytes;
  operation.written_bytes = elements * kActivationBytes;
  operation.live_bytes = operation.read_bytes + operation.written_bytes;
  return operation;
}

double activation_ops(Activation activation) {
  switch (activation) {
    case Activation::gelu: return kGelu;
    case Activation::silu: return kSilu;
    case Activation::relu: return kRelu;
  }
  throw std::logic_error("unknown activation");
}

/// Parameters shared by all parts.
struct Context {
  const Transformer& model;
  const Batch& batch;
  Shard shard;
  AttentionMethod method;
  ResidualPlace residual;

  /// Elements of the residual stream.
  double width() const { return batch.rows * model.d_model; }
  double query_width() const { return static_cast<double>(shard.heads) * model.head_size; }
  double kv_width() const { return static_cast<double>(shard.kv_heads) * model.head_size; }
};

/// GEMM of the residual stream with a weight matrix. The input is normalized as it is read, since
/// its statistics are already known.
Operation normalized_matrix(std::string_view name, const Context& context, double outputs) {
  Operation operation =
      matrix(name, context.batch.rows, context.model.d_model, outputs, context.model.weights);
  operation.vector_ops = context.width() * (kFromBf16 + kNormScale + kToBf16);
  if (context.residual == ResidualPlace::vmem)
    operation.read_bytes -= context.width() * kActivationBytes;
  return operation;
}

void append(std::vector<Operation>& operations, const std::vector<Operation>& more) {
  operations.insert(operations.end(), more.begin(), more.end());
}

/// Adds a result, after its post-norm if the model has one, to the residual stream, and computes
/// the statistics of the next norm. A norm needs the whole row before it can scale it, so the
/// result is read twice.
Operation add_to_residual(std::string_view name, const Context& context) {
  const bool normalized = context.model.post_norms;
  const double elements = context.width();
  Operation operation = elementwise(name, elements, normalized ? 3.0 : 2.0,
                                    (normalized ? kNormSum + kNormScale : 0.0) + kAdd + kNormSum);
  constexpr double kArrays = 3.0;  // result, residual before and after
  operation.live_bytes = kArrays * elements * kActivationBytes;
  if (context.residual == ResidualPlace::vmem) {
    operation.read_bytes -= elements * kActivationBytes;
    operation.written_bytes -= elements * kActivationBytes;
  }
  return operation;
}

/// Sums the partial results of all chips and adds them to the residual stream.
void append_reduction(std::vector<Operation>& operations, const Context& context,
                      std::string_view allreduce, std::string_view residual) {
  if (context.shard.chips > 1) {
    Operation sum{.name = allreduce, .kind = OperationKind::allreduce};
    sum.allreduce_bytes = context.width() * kActivationBytes;
    sum.live_bytes = 2.0 * sum.allreduce_bytes;
    operations.push_back(sum);
  }
  operations.push_back(add_to_residual(residual, context));
}

/// Query, key and value projections, rotary positions, attention, output projection.
std::vector<Operation> attention_block(const Context& c, LayerKind kind) {
  const double rows = c.batch.rows;
  const double rotated = rows * (c.query_width() + c.kv_width());
  const WeightType weights = c.model.weights;
  std::vector<Operation> operations = {
      normalized_matrix("qkv", c, c.query_width() + 2.0 * c.kv_width()),
      elementwise("rope", rotated, 1.0,
                  kRotate + (c.model.qk_norms ? kNormSum + kNormScale : 0.0))};
  const Batch::Layer& layer = kind.local ? c.batch.local : c.batch.global;
  for (const Attended* attended : {&layer.prompts, &layer.decoding})
    if (attended->rows > 0.0)
      append(operations, attention_operations(c.model, *attended, c.shard, c.method));
  operations.push_back(matrix("attention_output", rows, c.query_width(), c.model.d_model, weights));
  append_reduction(operations, c, "attention_allreduce", "attention_residual");
  return operations;
}

std::vector<Operation> ffn_block(const Context& c) {
  const double rows = c.batch.rows;
  const double inner = c.shard.ffn;
  const double parts = c.model.gated_ffn ? 2.0 : 1.0;  // gate and up
  const double gating = c.model.gated_ffn ? kMultiply : 0.0;
  const WeightType weights = c.model.weights;
  std::vector<Operation> operations = {
      normalized_matrix("ffn_in", c, parts * inner),
      elementwise("activation", rows * inner, parts, activation_ops(c.model.activation) + gating),
      matrix("ffn_out", rows, inner, c.model.d_model, weights)};
  append_reduction(operations, c, "ffn_allreduce", "ffn_residual");
  return operations;
}

std::vector<Operation> layer_operations(const Context& context, LayerKind kind) {
  std::vector<Operation> operations = attention_block(context, kind);
  append(operations, ffn_block(context));
  return operations;
}

std::vector<Operation> embedding(const Context& context) {
  Operation lookup{.name = "embedding", .kind = OperationKind::memory};
  lookup.weight_bytes = context.width() * bytes_of(context.model.weights);
  lookup.written_bytes =
      context.residual == ResidualPlace::vmem ? 0.0 : context.width() * kActivationBytes;
  lookup.vector_ops = context.width() * (kFromBf16 + kNormSum);
  lookup.live_bytes = context.width() * kActivationBytes;
  return {lookup};
}

/// Only the last position of each sequence needs logits.
std::vector<Operation> head(const Context& context) {
  const Transformer& model = context.model;
  const double rows = context.batch.logits;
  return {elementwise("final_norm", rows * model.d_model, 1.0, kNormSum + kNormScale),
          matrix("logits", rows, model.d_model, context.shard.vocabulary, model.weights)};
}

}  // namespace

const std::vector<Operation>& PhaseOperations::layer(LayerKind kind) const {
  const auto found = std::ranges::find(layers, kind, &LayerOperations::kind);
  if (found == layers.end()) throw std::logic_error("the model has no layer of this kind");
  return found->operations;
}

void Batch::add(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                bool samples) {
  rows += extent.rows();
  if (samples) logits += extent.batch;
  const bool decodes = extent.queries == 1.0;
  const auto add_to = [&](Layer& layer, bool is_local) {
    (decodes ? layer.decoding : layer.prompts) += attended(model, extent, method, is_local);
  };
  add_to(global, false);
  add_to(local, true);
}

PhaseOperations phase_operations(const Transformer& model, const Phase& phase, std::uint32_t chips,
                                 const AttentionMethod& method, ResidualPlace residual) {
  check_phase(model, phase);
  Batch batch;
  batch.add(model, extent(phase), method, true);
  return batch_operations(model, batch, chips, method, residual);
}

PhaseOperations batch_operations(const Transformer& model, const Batch& batch, std::uint32_t chips,
                                 const AttentionMethod& method, ResidualPlace residual) {
  const Context context{model, batch, shard(model, chips), method, residual};
  PhaseOperations operations{.embedding = embedding(context), .layers = {}, .head = head(context)};
  for (const KindCount& count : layer_kinds(model))
    operations.layers.push_back({count.kind, layer_operations(context, count.kind)});
  return operations;
}

}  // namespace equarx::workloads
