#include "models/workloads/attention.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

constexpr double kFlopsPerProduct = 2.0;  // multiply and add
constexpr double kFewestPasses = 2.0;     // written and read

/// Sizes that all operations of attention are made of, over the chip's heads and all sequences.
struct Sizes {
  double scores;         ///< how many
  double product_flops;  ///< of scores, and of values, too
  double query_bytes;    ///< of the queries, and of the result, too
  double key_bytes;      ///< of the keys, and of the values, too
};

/// Each position is a query and a key.
bool is_prompt(const Extent& extent) { return extent.queries == extent.keys; }

Sizes sizes_of(const Transformer& model, const Extent& extent, const Shard& shard,
               const AttentionMethod& method, bool local) {
  const double scores = score_pairs(model, extent, method, local) * shard.heads * extent.batch;
  // Every key of a prompt is in the window of some query.
  const double keys =
      extent.batch * (is_prompt(extent) ? extent.keys : cached_keys(model, extent, method, local));
  return {scores, kFlopsPerProduct * scores * model.head_size,
          extent.rows() * shard.heads * model.head_size * kActivationBytes,
          keys * shard.kv_heads * model.head_size * kActivationBytes};
}

Operation fused_attention(const Sizes& sizes) {
  Operation operation{.name = "attention", .kind = OperationKind::attention};
  operation.flops = 2.0 * sizes.product_flops;
  operation.vector_ops = sizes.scores * (kSoftmax + kToBf16);
  operation.read_bytes = sizes.query_bytes + 2.0 * sizes.key_bytes;
  operation.written_bytes = sizes.query_bytes;
  operation.live_bytes = 2.0 * sizes.query_bytes;
  return operation;
}

std::vector<Operation> unfused_attention(const Sizes& sizes, const AttentionMethod& method) {
  const double score_bytes = sizes.scores * method.score_bytes;
  Operation scores{.name = "scores", .kind = OperationKind::attention};
  scores.flops = sizes.product_flops;
  scores.read_bytes = sizes.query_bytes + sizes.key_bytes;
  scores.written_bytes = score_bytes;
  scores.live_bytes = sizes.query_bytes + score_bytes;

  Operation softmax{.name = "softmax", .kind = OperationKind::attention};
  softmax.vector_ops = sizes.scores * (kSoftmax + kToBf16);
  softmax.read_bytes = (method.score_passes - kFewestPasses) * score_bytes;
  // Scores and probabilities are arrays of their own.
  softmax.live_bytes = 2.0 * score_bytes;

  Operation values{.name = "values", .kind = OperationKind::attention};
  values.flops = sizes.product_flops;
  values.read_bytes = score_bytes + sizes.key_bytes;
  values.written_bytes = sizes.query_bytes;
  values.live_bytes = score_bytes + sizes.query_bytes;
  return {scores, softmax, values};
}

}  // namespace

void check_method(const AttentionMethod& method) {
  if (method.fused) return;
  if (!(method.score_bytes > 0.0))
    throw std::invalid_argument(
        fmt::format("a score has {} bytes; it must have more than 0", method.score_bytes));
  if (!(method.score_passes >= kFewestPasses))
    throw std::invalid_argument(
        fmt::format("scores cross HBM {} times; unless attention is fused they are written and "
                    "read, at least {} times",
                    method.score_passes, kFewestPasses));
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
  // The first queries of a prompt have fewer keys before them than a query may reach.
  const double missing = reach * (reach - static_cast<double>(method.block)) / 2.0;
  return method.skips_future && is_prompt(extent) ? all - missing : all;
}

std::vector<Operation> attention_operations(const Transformer& model, const Extent& extent,
                                            const Shard& shard, const AttentionMethod& method,
                                            bool local) {
  check_method(method);
  const Sizes sizes = sizes_of(model, extent, shard, method, local);
  if (method.fused) return {fused_attention(sizes)};
  return unfused_attention(sizes, method);
}

}  // namespace equarx::workloads
