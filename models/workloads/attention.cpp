#include "models/workloads/attention.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

constexpr double kFlopsPerProduct = 2.0;  // multiply and add
constexpr double kMinPasses = 2.0;        // written once and read once

/// Sizes shared by all operations of attention, over the heads of the chip and all sequences.
struct Sizes {
  double rows;           ///< query rows of all heads
  double scores;         ///< number of scores
  double product_flops;  ///< FLOPs of the scores; the same for the values
  double query_bytes;    ///< queries; the same for the result
  double key_bytes;      ///< keys; the same for the values
};

/// True for a prompt, where each position is both a query and a key.
bool is_prompt(const Extent& extent) { return extent.queries == extent.keys; }

Sizes sizes_of(const Transformer& model, const Attended& attended, const Shard& shard,
               const AttentionMethod& method) {
  const double scores = attended.pairs * shard.heads;
  const double key_bytes = attended.cached * method.kv_bytes + attended.fresh * kActivationBytes;
  return {attended.rows * shard.heads, scores, kFlopsPerProduct * scores * model.head_size,
          attended.rows * shard.heads * model.head_size * kActivationBytes,
          key_bytes * shard.kv_heads * model.head_size};
}

Operation fused_attention(const Sizes& sizes) {
  Operation operation{
      .name = "attention", .kind = OperationKind::attention, .kernel = Kernel::attention};
  operation.flops = 2.0 * sizes.product_flops;
  operation.attention_rows = sizes.rows;
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
  softmax.read_bytes = (method.score_passes - kMinPasses) * score_bytes;
  // Scores and probabilities are separate arrays.
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
  const Sizes sizes = sizes_of(model, attended, shard, method);
  if (method.fused) return {fused_attention(sizes)};
  return unfused_attention(sizes, method);
}

}  // namespace equarx::workloads
