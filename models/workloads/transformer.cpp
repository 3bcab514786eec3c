#include "models/workloads/transformer.hpp"

#include <algorithm>
#include <stdexcept>

namespace equarx::workloads {
namespace {

double latent_parameters(const Transformer& model, const Latent& latent) {
  const double heads = model.heads;
  const double queries = heads * model.head_size;
  const double query_matrices = latent.query_rank > 0
                                    ? latent.query_rank * (model.d_model + queries)
                                    : model.d_model * queries;
  const double keys_and_values = heads * (model.head_size - latent.rope + latent.value);
  return query_matrices + static_cast<double>(model.d_model) * latent.cached() +
         latent.kv_rank * keys_and_values + heads * latent.value * model.d_model;
}

double attention_parameters(const Transformer& model) {
  if (model.latent) return latent_parameters(model, *model.latent);
  const double query_width = static_cast<double>(model.heads) * model.head_size;
  const double kv_width = static_cast<double>(model.kv_heads) * model.head_size;
  return model.d_model * (query_width + 2.0 * kv_width) + query_width * model.d_model;
}

double ffn_parameters(const Transformer& model, double width) {
  const double matrices = model.gated_ffn ? 3.0 : 2.0;
  return matrices * model.d_model * width;
}

/// Parameters of an FFN, or of `count` experts with shared ones and the router.
double ffn_parameters(const Transformer& model, LayerKind kind, std::uint32_t Experts::*count) {
  if (!kind.experts) return ffn_parameters(model, model.ffn);
  const Experts& experts = model.experts.value();
  return ffn_parameters(model, static_cast<double>(experts.*count) * experts.ffn) +
         ffn_parameters(model, experts.shared_ffn) +
         static_cast<double>(model.d_model) * experts.count;
}

double counted_parameters(const Transformer& model, LayerKind kind, std::uint32_t Experts::*count) {
  return attention_parameters(model) + ffn_parameters(model, kind, count) + norm_parameters(model);
}

}  // namespace

double bytes_of(WeightType type) {
  switch (type) {
    case WeightType::bf16: return 2.0;
    case WeightType::fp32: return 4.0;
  }
  throw std::logic_error("unknown type of weights");
}

bool is_local(const Transformer& model, std::uint32_t layer) {
  return (layer + 1) % (model.local_layers_per_global + 1) != 0;
}

std::uint32_t local_layers(const Transformer& model) {
  return model.layers - model.layers / (model.local_layers_per_global + 1);
}

LayerKind layer_kind(const Transformer& model, std::uint32_t layer) {
  const std::optional<Experts>& experts = model.experts;
  return {
      .local = is_local(model, layer),
      .experts = experts && layer >= experts->dense_layers && (layer + 1) % experts->every == 0};
}

std::vector<KindCount> layer_kinds(const Transformer& model) {
  std::vector<KindCount> kinds;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const LayerKind kind = layer_kind(model, layer);
    auto found = std::ranges::find(kinds, kind, &KindCount::kind);
    if (found == kinds.end()) found = kinds.insert(found, KindCount{.kind = kind, .layers = 0});
    ++found->layers;
  }
  return kinds;
}

double norm_parameters(const Transformer& model) {
  const double norms = (model.pre_norms ? 2.0 : 0.0) + (model.post_norms ? 2.0 : 0.0);
  const double latent = model.latent ? model.latent->query_rank + model.latent->kv_rank : 0.0;
  const bool gains = model.qk_norms && model.qk_gains;
  return norms * model.d_model + latent + (gains ? 2.0 * model.head_size : 0.0);
}

double final_norm_parameters(const Transformer& model) {
  return model.final_norm ? model.d_model : 0.0;
}

double layer_parameters(const Transformer& model, LayerKind kind) {
  return counted_parameters(model, kind, &Experts::count);
}

double routed_parameters(const Transformer& model, LayerKind kind) {
  if (!kind.experts) return 0.0;
  const Experts& experts = model.experts.value();
  return ffn_parameters(model, static_cast<double>(experts.count) * experts.ffn);
}

double active_layer_parameters(const Transformer& model, LayerKind kind) {
  return counted_parameters(model, kind, &Experts::top_k);
}

double parameters_without_embeddings(const Transformer& model) {
  double parameters = final_norm_parameters(model);
  for (const auto& [kind, layers] : layer_kinds(model))
    parameters += layers * layer_parameters(model, kind);
  return parameters;
}

double embedding_parameters(const Transformer& model) {
  const double tables = model.tied_embeddings ? 1.0 : 2.0;
  return tables * model.vocabulary * model.d_model;
}

double parameters(const Transformer& model) {
  return parameters_without_embeddings(model) + embedding_parameters(model);
}

double active_parameters(const Transformer& model) {
  double parameters = final_norm_parameters(model) + embedding_parameters(model);
  for (const auto& [kind, layers] : layer_kinds(model))
    parameters += layers * active_layer_parameters(model, kind);
  return parameters;
}

double allreduce_bytes_per_token(const Transformer& model) {
  return model.d_model * kActivationBytes;
}

}  // namespace equarx::workloads
