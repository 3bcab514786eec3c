// Attention of one chip: scores, softmax, values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workloads/operation.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/tensor_parallel.hpp"

namespace equarx::workloads {

/// How attention is implemented.
struct AttentionMethod {
  /// In one kernel, block by block, so that no score leaves VMEM. Otherwise three operations, between
  /// which scores go through HBM.
  bool fused = false;

  /// Keys behind the query are skipped, instead of computed and masked. No effect on decoding.
  bool skips_future = false;

  /// If keys behind the query are skipped: positions of a block, of queries and of keys, that a kernel computes whole
  /// or not at all, at least 1. It divides the sequence.
  std::uint64_t block = 1;

  /// Local layers compute (and keep) their window only, instead of masking what lies outside of it.
  bool skips_outside_window = false;

  /// If not fused: bytes of one score in HBM. Implementations that calculate in bf16 write them so.
  double score_bytes = kActivationBytes;

  /// If not fused: how often each score crosses HBM, at least 2: written by the first operation, read by
  /// the last, and all else is the softmax's, which at best reads and writes once. May be fractional: what
  /// is measured is an effective number.
  double score_passes = 4.0;
};

/// @throws std::invalid_argument if the scores have no size, or are not written and read.
void check_method(const AttentionMethod& method);

/// Positions of each sequence that a layer keeps in its KV cache.
double cached_keys(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local);

/// Pairs of query and key whose score is computed, in each head of each sequence.
double score_pairs(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local);

/// "attention" if it is fused, else "scores", "softmax", "values".
std::vector<Operation> attention_operations(const Transformer& model, const Extent& extent,
                                            const Shard& shard, const AttentionMethod& method,
                                            bool local);

}  // namespace equarx::workloads
