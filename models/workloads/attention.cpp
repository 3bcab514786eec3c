#include "models/workloads/attention.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/workloads/layer_parts.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

constexpr double kFlopsPerProduct = 2.0;  // multiply and add
constexpr double kMinPasses = 2.0;        // written once and read once

/// Sizes shared by all operations of attention, over the heads of the chip and all sequences.
struct Sizes {
  double rows;         ///< query rows of all heads
  double scores;       ///< number of scores
  double score_flops;  ///< FLOPs of the scores
  double value_flops;  ///< FLOPs of the values
  double query_bytes;
  double result_bytes;
  double key_bytes;
  double value_bytes;
  double shared_bytes = 0.0;  ///< part of both keys and values, which a fused kernel reads once
};

/// True for a prompt, where each position is both a query and a key.
bool is_prompt(const Extent& extent) { return extent.queries == extent.keys; }

/// Sizes with `key` elements of each key and query, and `value` elements of each value and result.
Sizes sizes_of(const Attended& attended, double heads, double key, double value) {
  const double scores = attended.pairs * heads;
  const double rows = attended.rows * heads;
  return {.rows = rows,
          .scores = scores,
          .score_flops = kFlopsPerProduct * scores * key,
          .value_flops = kFlopsPerProduct * scores * value,
          .query_bytes = rows * key * kActivationBytes,
          .result_bytes = rows * value * kActivationBytes,
          .key_bytes = 0.0,
          .value_bytes = 0.0};
}

Sizes grouped_sizes(const Transformer& model, const Attended& attended, const Shard& shard,
                    const AttentionMethod& method) {
  Sizes sizes = sizes_of(attended, shard.heads, model.head_size, model.head_size);
  const double bytes = attended.cached * method.kv_bytes + attended.fresh * kActivationBytes;
  sizes.key_bytes = sizes.value_bytes = bytes * shard.kv_heads * model.head_size;
  return sizes;
}

/// Keys and values of all heads, expanded in bf16.
Sizes expanded_sizes(const Transformer& model, const Attended& attended, const Shard& shard) {
  const double value = model.value_size();
  Sizes sizes = sizes_of(attended, shard.heads, model.head_size, value);
  const double bytes = (attended.cached + attended.fresh) * shard.heads * kActivationBytes;
  sizes.key_bytes = bytes * model.head_size;
  sizes.value_bytes = bytes * value;
  return sizes;
}

/// One key for all heads, the cached vector, and one value, a part of it.
Sizes absorbed_sizes(const Latent& latent, const Attended& attended, const Shard& shard,
                     const AttentionMethod& method) {
  Sizes sizes = sizes_of(attended, shard.heads, latent.cached(), latent.kv_rank);
  sizes.key_bytes = attended.cached * latent.cached() * method.kv_bytes;
  sizes.value_bytes = attended.cached * latent.kv_rank * method.kv_bytes;
  sizes.shared_bytes = sizes.value_bytes;
  return sizes;
}

Operation fused_attention(const Sizes& sizes) {
  Operation operation{
      .name = "attention", .kind = OperationKind::attention, .kernel = Kernel::attention};
  operation.flops = sizes.score_flops + sizes.value_flops;
  operation.attention_rows = sizes.rows;
  operation.vector_ops = sizes.scores * (kSoftmax + kToBf16);
  operation.read_bytes =
      sizes.query_bytes + sizes.key_bytes + sizes.value_bytes - sizes.shared_bytes;
  operation.written_bytes = sizes.result_bytes;
  operation.live_bytes = sizes.query_bytes + sizes.result_bytes;
  return operation;
}

std::vector<Operation> unfused_attention(const Sizes& sizes, const AttentionMethod& method) {
  const double score_bytes = sizes.scores * method.score_bytes;
  Operation scores{.name = "scores", .kind = OperationKind::attention};
  scores.flops = sizes.score_flops;
  scores.read_bytes = sizes.query_bytes + sizes.key_bytes;
  scores.written_bytes = score_bytes;
  scores.live_bytes = sizes.query_bytes + score_bytes;

  Operation softmax{.name = "softmax", .kind = OperationKind::attention};
  softmax.vector_ops = sizes.scores * (kSoftmax + kToBf16);
  softmax.read_bytes = (method.score_passes - kMinPasses) * score_bytes;
  // Scores and probabilities are separate arrays.
  softmax.live_bytes = 2.0 * score_bytes;

  Operation values{.name = "values", .kind = OperationKind::attention};
  values.flops = sizes.value_flops;
  values.read_bytes = score_bytes + sizes.value_bytes;
  values.written_bytes = sizes.result_bytes;
  values.live_bytes = score_bytes + sizes.result_bytes;
  return {scores, softmax, values};
}

std::vector<Operation> products_of(const Sizes& sizes, const AttentionMethod& method) {
  if (method.fused) return {fused_attention(sizes)};
  return unfused_attention(sizes, method);
}

/// Keys and values of all heads from latent vectors of cached positions and of a prompt.
Operation expansion(const Transformer& model, const Latent& latent, const Attended& attended,
                    const Shard& shard, const AttentionMethod& method) {
  const double outputs =
      static_cast<double>(shard.heads) * (model.head_size - latent.rope + latent.value);
  Operation operation = matrix("expand",
                               {.rows = attended.cached + attended.fresh,
                                .inputs = static_cast<double>(latent.kv_rank),
                                .outputs = outputs},
                               model.weights);
  operation.read_bytes =
      (attended.cached * method.kv_bytes + attended.fresh * kActivationBytes) * latent.kv_rank;
  return operation;
}

/// GEMM of the rows of each head with a matrix of that head.
Operation per_head(std::string_view name, const Transformer& model, const Attended& attended,
                   const Shard& shard, const GemmShape& head) {
  const double heads = shard.heads;
  return matrix(name,
                {.rows = attended.rows * heads,
                 .inputs = head.inputs,
                 .outputs = head.outputs,
                 .matrices = heads,
                 .stored = heads},
                model.weights);
}

/// Prompts expand keys and values. Decoding multiplies queries and results by the matrices of the
/// expansion instead, and attends to the cached vectors.
std::vector<Operation> latent_attention(const Transformer& model, const Latent& latent,
                                        const Attended& attended, const Shard& shard,
                                        const AttentionMethod& method) {
  std::vector<Operation> operations;
  if (attended.fresh > 0.0) {
    operations = {expansion(model, latent, attended, shard, method)};
    append(operations, products_of(expanded_sizes(model, attended, shard), method));
    return operations;
  }
  const double rank = latent.kv_rank;
  const double unrotated = model.head_size - latent.rope;
  const double value = latent.value;
  operations = {
      per_head("absorb_queries", model, attended, shard, {.inputs = unrotated, .outputs = rank})};
  append(operations, products_of(absorbed_sizes(latent, attended, shard, method), method));
  operations.push_back(
      per_head("absorb_values", model, attended, shard, {.inputs = rank, .outputs = value}));
  return operations;
}

}  // namespace

void check_method(const AttentionMethod& method) {
  if (method.fused) return;
  if (!(method.score_bytes > 0.0))
    throw std::invalid_argument(
        fmt::format("bytes per score are {}; they must be more than 0", method.score_bytes));
  if (!(method.score_passes >= kMinPasses))
    throw std::invalid_argument(
        fmt::format("scores cross HBM {} times; unfused attention writes and reads them, "
                    "so at least {} times",
                    method.score_passes, kMinPasses));
}

double cached_keys(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local) {
  return local && method.skips_outside_window ? std::min<double>(model.window, extent.keys)
                                              : extent.keys;
}

double score_pairs(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local) {
  const double reach = cached_keys(model, extent, method, local);
  const double all = extent.queries * reach;
  if (!method.skips_future) return all;
  // Queries that are preceded by fewer keys than the reach.
  const double early = std::max(0.0, reach - (extent.keys - extent.queries));
  const double missing = early * (early - static_cast<double>(method.block)) / 2.0;
  return all - (is_prompt(extent) ? missing : std::max(0.0, missing));
}

Attended& Attended::operator+=(const Attended& other) {
  rows += other.rows;
  pairs += other.pairs;
  cached += other.cached;
  fresh += other.fresh;
  return *this;
}

Attended attended(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                  bool local) {
  const double reach = cached_keys(model, extent, method, local);
  const bool decodes = extent.queries == 1.0 && !is_prompt(extent);
  // Every key of a prompt lies in the window of some query.
  const double fresh = decodes ? 0.0 : extent.queries;
  const double cached = decodes ? reach : std::min(reach, extent.keys - extent.queries);
  return {.rows = extent.rows(),
          .pairs = extent.batch * score_pairs(model, extent, method, local),
          .cached = extent.batch * cached,
          .fresh = extent.batch * fresh};
}

std::vector<Operation> attention_operations(const Transformer& model, const Attended& attended,
                                            const Shard& shard, const AttentionMethod& method) {
  check_method(method);
  if (model.latent) return latent_attention(model, *model.latent, attended, shard, method);
  return products_of(grouped_sizes(model, attended, shard, method), method);
}

}  // namespace equarx::workloads
