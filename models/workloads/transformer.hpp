// A decoder-only transformer as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace equarx::workloads {

/// Bytes per element (bf16) of activations, of the KV cache and of AllReduce data.
inline constexpr double kActivationBytes = 2.0;

/// Activation function of the feed-forward network.
enum class Activation : std::uint8_t { gelu, silu, relu, xielu };

/// Storage type of weights in HBM.
enum class WeightType : std::uint8_t { bf16, fp32 };

/// Bytes per weight.
double bytes_of(WeightType type);

/// Feed-forward networks of a layer; a router selects some for each token.
struct Experts {
  std::uint32_t count = 0;
  std::uint32_t top_k = 0;         ///< of a token; at most `count`
  std::uint32_t ffn = 0;           ///< inner width of one
  std::uint32_t shared_ffn = 0;    ///< inner width of shared ones, of all tokens, joined; 0: none
  std::uint32_t dense_layers = 0;  ///< first layers, with an FFN instead; below the layers
  std::uint32_t every = 1;         ///< every n-th layer has experts, at least 1
};

/// Latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): keys and values of all heads are
/// products of a vector per position, which is cached with a rotary key that all heads share.
struct Latent {
  std::uint32_t query_rank = 0;  ///< width of the vector of queries; 0: they have one matrix
  std::uint32_t kv_rank = 0;     ///< width of the vector of keys and values
  std::uint32_t rope = 0;        ///< rotary elements among head_size; even, below it
  std::uint32_t value = 0;       ///< elements of a value of a head

  /// Elements cached per position.
  std::uint32_t cached() const { return kv_rank + rope; }
};

/// Shape of a decoder-only transformer with grouped-query attention and rotary positions, from its
/// public configuration. All counts are above 0 unless noted otherwise.
struct Transformer {
  std::string name;
  std::string description;
  std::string source;  ///< source of the numbers

  std::uint32_t layers = 0;
  std::uint32_t d_model = 0;
  std::uint32_t heads = 0;      ///< query heads
  std::uint32_t kv_heads = 0;   ///< key and value heads; divides heads
  std::uint32_t head_size = 0;  ///< of queries and keys; even, for rotary positions
  std::uint32_t ffn = 0;        ///< inner width of the feed-forward network of dense layers
  bool gated_ffn = true;        ///< three matrices (gate, up, down) instead of two (up, down)
  Activation activation = Activation::silu;
  std::uint32_t vocabulary = 0;
  bool tied_embeddings = false;  ///< one table for lookup and logits
  /// Local layers before each global one; 0: every layer is global.
  std::uint32_t local_layers_per_global = 0;
  std::uint32_t window = 0;  ///< positions that a local layer attends to; 0 without local layers
  std::uint32_t largest_context = 0;
  bool pre_norms = true;  ///< of the inputs of attention and of the FFN
  /// Norms of the results of attention and of the FFN, before the residual is added.
  bool post_norms = false;
  bool final_norm = true;  ///< of the input of the head
  bool qk_norms = false;   ///< queries and keys are normalized per head
  bool qk_gains = true;    ///< norms of queries and keys have weights
  WeightType weights = WeightType::bf16;
  std::optional<Experts> experts = {};
  std::optional<Latent> latent = {};  ///< kv_heads is then `heads`
  /// Modules that predict further tokens in training, among neither `layers` nor the parameters: each
  /// has a layer like the last (DeepSeek-V3, arXiv 2412.19437, section 2.2).
  std::uint32_t prediction_layers = 0;

  /// Elements of a value of a head.
  std::uint32_t value_size() const { return latent ? latent->value : head_size; }
};

/// True if layer `layer` (from 0) attends to a window only. Each group is local_layers_per_global
/// local layers followed by a global one; remaining layers at the end are local.
bool is_local(const Transformer& model, std::uint32_t layer);

/// Number of local layers.
std::uint32_t local_layers(const Transformer& model);

/// Properties that decide which operations a layer has.
struct LayerKind {
  bool local = false;    ///< attends to a window only
  bool experts = false;  ///< has experts instead of an FFN

  bool operator==(const LayerKind&) const = default;
};

/// Kind of layer `layer` (from 0).
LayerKind layer_kind(const Transformer& model, std::uint32_t layer);

/// Number of layers of a kind.
struct KindCount {
  LayerKind kind;
  std::uint32_t layers = 0;  ///< above 0
};

/// Distinct kinds of layers, in the order in which they first occur.
std::vector<KindCount> layer_kinds(const Transformer& model);

/// Parameters of one layer's norms.
double norm_parameters(const Transformer& model);

/// Parameters of the norm before the head; 0 without it.
double final_norm_parameters(const Transformer& model);

/// Parameters of one layer: attention, FFN or experts with their router, and norms.
double layer_parameters(const Transformer& model, LayerKind kind);

/// Parameters of the experts of one layer that a router selects from.
double routed_parameters(const Transformer& model, LayerKind kind);

/// Parameters of one layer that a token uses.
double active_layer_parameters(const Transformer& model, LayerKind kind);

/// Parameters of all layers and the final norm.
double parameters_without_embeddings(const Transformer& model);

/// Parameters of one table, or of two if lookup and logits do not share it.
double embedding_parameters(const Transformer& model);

/// All parameters.
double parameters(const Transformer& model);

/// Parameters that a token uses, with all tables.
double active_parameters(const Transformer& model);

/// Bytes per token and chip of one AllReduce.
double allreduce_bytes_per_token(const Transformer& model);

}  // namespace equarx::workloads
