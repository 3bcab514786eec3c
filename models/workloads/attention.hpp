// Attention on one chip: scores, softmax, values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workloads/operation.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/tensor_parallel.hpp"

namespace equarx::workloads {

/// GEMMs of fused attention: scores and values.
inline constexpr double kForwardProducts = 2.0;
/// Backward GEMMs of attention per two forward ones: scores again, and the gradients of
/// probabilities, values, keys and queries (FlashAttention-2, arXiv 2307.08691; the fused backward
/// kernel of splash attention in JAX has the same five).
inline constexpr double kBackwardProducts = 5.0;

/// Implementation of attention.
struct AttentionMethod {
  /// A single kernel that works block by block, so that scores never leave VMEM. Otherwise three
  /// operations that pass scores through HBM.
  bool fused = false;

  /// Skips keys after the query instead of computing and masking them. No effect on decoding.
  bool skips_future = false;

  /// With skips_future: block size in positions, of queries and keys, that a kernel computes
  /// entirely or not at all. At least 1; divides the sequence.
  std::uint64_t block = 1;

  /// Local layers compute and keep only their window, instead of masking keys outside of it.
  bool skips_outside_window = false;

  /// Unfused only: bytes per score in HBM. Implementations that compute in bf16 store bf16.
  double score_bytes = kActivationBytes;

  /// Unfused only: how often each score crosses HBM, at least 2: written by the first operation,
  /// read by the last; the rest is the softmax, which reads and writes once at best. May be
  /// fractional, as a measured value is an effective one.
  double score_passes = 4.0;

  /// Bytes per element of cached keys and values, scales included; > 0. Kernels decode them in
  /// registers while they read.
  double kv_bytes = kActivationBytes;
};

/// @throws std::invalid_argument if score_bytes or score_passes of unfused attention is too small.
void check_method(const AttentionMethod& method);

/// Positions per sequence that a layer keeps in its KV cache.
double cached_keys(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local);

/// Query-key pairs whose score is computed, per head and sequence. The queries are the last of the
/// keys: all of them in a prompt, one in decoding, else a chunk of a prompt.
double score_pairs(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                   bool local);

/// Attention of some sequences in one layer, summed over them.
struct Attended {
  double rows = 0.0;    ///< queries
  double pairs = 0.0;   ///< query-key pairs whose score is computed, per head
  double cached = 0.0;  ///< keys read from the KV cache
  double fresh = 0.0;   ///< keys read in bf16, before they are cached

  Attended& operator+=(const Attended& other);
};

/// Attention of `extent.batch` sequences. Prompts read their keys before these are cached, and
/// earlier chunks from the cache; decoding reads all keys from the cache.
Attended attended(const Transformer& model, const Extent& extent, const AttentionMethod& method,
                  bool local);

/// Returns "attention" if fused, otherwise "scores", "softmax", "values". Latent attention also has
/// the products with the matrices that expand keys and values: "expand" before attention of prompts;
/// "absorb_queries" and "absorb_values" around it in decoding (DeepSeek-V2, arXiv 2405.04434).
/// @throws std::invalid_argument as check_method()
std::vector<Operation> attention_operations(const Transformer& model, const Attended& attended,
                                            const Shard& shard, const AttentionMethod& method);

}  // namespace equarx::workloads
