// A decoder-only transformer as data.
#pragma once

#include <cstdint>
#include <string>

namespace equarx::workloads {

/// Bytes of one element of an activation, of the KV cache and of what an AllReduce sums: bf16.
inline constexpr double kActivationBytes = 2.0;

/// The function between the matrices of a feed-forward layer.
enum class Activation : std::uint8_t { gelu, silu, relu };

/// What weights are stored as, in HBM.
enum class WeightType : std::uint8_t { bf16, fp32 };

/// Bytes of one weight.
double bytes_of(WeightType type);

/// The shape of a decoder-only transformer with grouped-query attention and rotary positions, as its
/// public configuration gives it. All counts are above 0 unless said otherwise.
struct Transformer {
  std::string name;
  std::string description;
  std::string source;  ///< where the numbers come from

  std::uint32_t layers = 0;
  std::uint32_t d_model = 0;
  std::uint32_t heads = 0;      ///< query heads
  std::uint32_t kv_heads = 0;   ///< key and value heads; divides heads
  std::uint32_t head_size = 0;  ///< even, for rotary positions
  std::uint32_t ffn = 0;        ///< inner width of the feed-forward network
  bool gated_ffn = true;        ///< three matrices (gate, up, down) instead of two (up, down)
  Activation activation = Activation::silu;
  std::uint32_t vocabulary = 0;
  bool tied_embeddings = false;  ///< one table for lookup and logits
  /// Local layers before each global one; 0: every layer is global.
  std::uint32_t local_layers_per_global = 0;
  std::uint32_t window = 0;  ///< positions that a local layer attends to; 0 if there is none
  std::uint32_t largest_context = 0;
  bool post_norms = false;  ///< also a norm behind attention and FFN, before the residual is added
  bool qk_norms = false;    ///< queries and keys are normalized per head
  WeightType weights = WeightType::bf16;
};

/// Whether a layer (from 0) attends to a window only. Each group is local_layers_per_global local
/// layers, then a global one; layers left over at the end are local.
bool is_local(const Transformer& model, std::uint32_t layer);

/// How many are.
std::uint32_t local_layers(const Transformer& model);

/// Parameters of one layer's norms.
double norm_parameters(const Transformer& model);

/// Parameters of one layer: matrices of attention and FFN, and norms.
double layer_parameters(const Transformer& model);

/// Of all layers and the final norm.
double parameters_without_embeddings(const Transformer& model);

/// One table, or two if lookup and logits do not share it.
double embedding_parameters(const Transformer& model);

/// All of them.
double parameters(const Transformer& model);

/// Bytes that an AllReduce of the model sums for each token, on each chip.
double allreduce_bytes_per_token(const Transformer& model);

}  // namespace equarx::workloads
