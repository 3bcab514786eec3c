#include "models/workloads/transformer.hpp"

#include <algorithm>
#include <stdexcept>

namespace equarx::workloads {
namespace {

double attention_parameters(const Transformer& model) {
  const double query_width = static_cast<double>(model.heads) * model.head_size;
  const double kv_width = static_cast<double>(model.kv_heads) * model.head_size;
  return model.d_model * (query_width + 2.0 * kv_width) + query_width * model.d_model;
}

double ffn_parameters(const Transformer& model) {
  const double matrices = model.gated_ffn ? 3.0 : 2.0;
  return matrices * model.d_model * model.ffn;
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
  return {.local = is_local(model, layer)};
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
  const double norms = model.post_norms ? 4.0 : 2.0;
  return norms * model.d_model + (model.qk_norms ? 2.0 * model.head_size : 0.0);
}

double layer_parameters(const Transformer& model) {
  return attention_parameters(model) + ffn_parameters(model) + norm_parameters(model);
}

double parameters_without_embeddings(const Transformer& model) {
  return model.layers * layer_parameters(model) + model.d_model;
}

double embedding_parameters(const Transformer& model) {
  const double tables = model.tied_embeddings ? 1.0 : 2.0;
  return tables * model.vocabulary * model.d_model;
}

double parameters(const Transformer& model) {
  return parameters_without_embeddings(model) + embedding_parameters(model);
}

double allreduce_bytes_per_token(const Transformer& model) {
  return model.d_model * kActivationBytes;
}

}  // namespace equarx::workloads
