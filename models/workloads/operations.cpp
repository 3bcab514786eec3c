#include "models/workloads/operations.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

/// Parameters shared by all parts.
struct Context {
  LayerContext layer;
  const Batch& batch;
  AttentionMethod method;
  ExpertMethod experts;

  const Transformer& model() const { return layer.model; }
  const Shard& shard() const { return layer.shard; }
  double width() const { return layer.width(); }
  double query_width() const { return static_cast<double>(shard().heads) * model().head_size; }
  double kv_width() const { return static_cast<double>(shard().kv_heads) * model().head_size; }
  double result_width() const { return static_cast<double>(shard().heads) * model().value_size(); }
};

/// Adds a result, after its post-norm if the model has one, to the residual stream, and computes
/// the statistics of the next norm, if there is one. A norm needs the whole row before it can scale
/// it, so the result is read twice.
Operation add_to_residual(std::string_view name, const Context& context) {
  const Transformer& model = context.model();
  const double elements = context.width();
  const double post_norm = model.post_norms ? kNormSum + kNormScale : 0.0;
  const double next = model.pre_norms ? kNormSum : 0.0;
  Operation operation =
      elementwise(name, elements, model.post_norms ? 3.0 : 2.0, post_norm + kAdd + next);
  constexpr double kArrays = 3.0;  // result, residual before and after
  operation.live_bytes = kArrays * elements * kActivationBytes;
  const double saved = elements * kActivationBytes - context.layer.residual_bytes();
  operation.read_bytes -= saved;
  operation.written_bytes -= saved;
  return operation;
}

/// Sums the partial results of all chips and adds them to the residual stream.
void append_reduction(std::vector<Operation>& operations, const Context& context,
                      std::string_view allreduce, std::string_view residual) {
  if (context.shard().chips > 1) {
    Operation sum{.name = allreduce, .kind = OperationKind::allreduce};
    sum.collective_bytes = context.width() * kActivationBytes;
    sum.live_bytes = 2.0 * sum.collective_bytes;
    operations.push_back(sum);
  }
  operations.push_back(add_to_residual(residual, context));
}

/// Latent vectors, which every chip computes whole, their norms, and queries.
std::vector<Operation> latent_projections(const Context& c, const Latent& latent) {
  const double rows = c.layer.rows;
  const double queries = latent.query_rank > 0 ? latent.query_rank : c.query_width();
  std::vector<Operation> operations = {
      input_matrix("qkv", c.layer, queries + latent.cached()),
      elementwise("latent_norm", rows * (latent.query_rank + latent.kv_rank), 1.0,
                  kNormSum + kNormScale)};
  if (latent.query_rank > 0)
    operations.push_back(matrix("queries",
                                {.rows = rows, .inputs = queries, .outputs = c.query_width()},
                                c.model().weights));
  const double rotated = rows * latent.rope * (c.shard().heads + 1.0);
  operations.push_back(elementwise("rope", rotated, 1.0, kRotate));
  return operations;
}

std::vector<Operation> projections(const Context& c) {
  if (c.model().latent) return latent_projections(c, *c.model().latent);
  const double rotated = c.layer.rows * (c.query_width() + c.kv_width());
  const double scale = c.model().qk_gains ? kNormScale : kNormScale - kMultiply;
  const double norms = c.model().qk_norms ? kNormSum + scale : 0.0;
  return {input_matrix("qkv", c.layer, c.query_width() + 2.0 * c.kv_width()),
          elementwise("rope", rotated, 1.0, kRotate + norms)};
}

/// Query, key and value projections, rotary positions, attention, output projection.
std::vector<Operation> attention_block(const Context& c, LayerKind kind) {
  std::vector<Operation> operations = projections(c);
  const Batch::Layer& layer = kind.local ? c.batch.local : c.batch.global;
  for (const Attended* attended : {&layer.prompts, &layer.decoding})
    if (attended->rows > 0.0)
      append(operations, attention_operations(c.model(), *attended, c.shard(), c.method));
  operations.push_back(matrix("attention_output",
                              {.rows = c.layer.rows,
                               .inputs = c.result_width(),
                               .outputs = static_cast<double>(c.model().d_model)},
                              c.model().weights));
  append_reduction(operations, c, "attention_allreduce", "attention_residual");
  return operations;
}

std::vector<Operation> dense_operations(const Context& c) {
  const double rows = c.layer.rows;
  const double inner = c.shard().ffn;
  const double outputs = c.model().d_model;
  return {
      input_matrix("ffn_in", c.layer, inner_matrices(c.model()) * inner),
      activation("activation", c.model(), rows * inner),
      matrix("ffn_out", {.rows = rows, .inputs = inner, .outputs = outputs}, c.model().weights)};
}

std::vector<Operation> layer_operations(const Context& context, LayerKind kind) {
  std::vector<Operation> operations = attention_block(context, kind);
  append(operations, kind.experts ? expert_operations(context.layer, context.experts)
                                  : dense_operations(context));
  append_reduction(operations, context, "ffn_allreduce", "ffn_residual");
  return operations;
}

std::vector<Operation> embedding(const Context& context) {
  Operation lookup{.name = "embedding", .kind = OperationKind::memory};
  lookup.weight_bytes = context.width() * bytes_of(context.model().weights);
  lookup.written_bytes = context.layer.residual_bytes();
  lookup.vector_ops = context.width() * (kFromBf16 + (context.model().pre_norms ? kNormSum : 0.0));
  lookup.live_bytes = context.width() * kActivationBytes;
  return {lookup};
}

/// Only the last position of each sequence needs logits.
std::vector<Operation> head(const Context& context) {
  const double rows = context.batch.logits;
  const double inputs = context.model().d_model;
  const double outputs = context.shard().vocabulary;
  std::vector<Operation> operations;
  if (context.model().final_norm)
    operations.push_back(elementwise("final_norm", rows * inputs, 1.0, kNormSum + kNormScale));
  operations.push_back(matrix("logits", {.rows = rows, .inputs = inputs, .outputs = outputs},
                              context.model().weights));
  return operations;
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
                                 const AttentionMethod& method, ResidualPlace residual,
                                 ExpertMethod experts) {
  check_phase(model, phase);
  const Extent size = extent(phase);
  if (std::holds_alternative<Prefill>(phase)) experts.group = size.queries;
  Batch batch;
  batch.add(model, size, method, true);
  return batch_operations(model, batch, chips, method, residual, experts);
}

PhaseOperations batch_operations(const Transformer& model, const Batch& batch, std::uint32_t chips,
                                 const AttentionMethod& method, ResidualPlace residual,
                                 const ExpertMethod& experts) {
  const Context context{.layer = {model, shard(model, chips), residual, batch.rows},
                        .batch = batch,
                        .method = method,
                        .experts = experts};
  PhaseOperations operations{.embedding = embedding(context), .layers = {}, .head = head(context)};
  for (const KindCount& count : layer_kinds(model))
    operations.layers.push_back({count.kind, layer_operations(context, count.kind)});
  return operations;
}

}  // namespace equarx::workloads
