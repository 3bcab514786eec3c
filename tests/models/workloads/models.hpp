// Transformers for tests, and sums over operations.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "models/workloads/operations.hpp"

namespace equarx::workloads::testing {

/// Small enough for manual calculations.
inline Transformer tiny() {
  Transformer model;
  model.name = "tiny";
  model.layers = 7;
  model.d_model = 8;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_size = 2;
  model.ffn = 12;
  model.gated_ffn = true;
  model.activation = Activation::silu;
  model.vocabulary = 30;
  model.tied_embeddings = true;
  model.local_layers_per_global = 2;
  model.window = 3;
  model.largest_context = 64;
  return model;
}

inline Transformer gemma3_27b() {
  Transformer model;
  model.name = "27b";
  model.layers = 62;
  model.d_model = 5376;
  model.heads = 32;
  model.kv_heads = 16;
  model.head_size = 128;
  model.ffn = 21504;
  model.activation = Activation::gelu;
  model.vocabulary = 262144;
  model.tied_embeddings = true;
  model.local_layers_per_global = 5;
  model.window = 1024;
  model.largest_context = 131072;
  model.post_norms = true;
  model.qk_norms = true;
  return model;
}

/// tiny() with eight experts 6 wide, two of a token, and a shared one 4 wide, after a dense layer.
inline Transformer tiny_experts() {
  Transformer model = tiny();
  model.experts = Experts{.count = 8, .top_k = 2, .ffn = 6, .shared_ffn = 4, .dense_layers = 1};
  return model;
}

/// tiny() with latent attention: four heads of 2 + 2 elements and values of 6; vectors of 10 for
/// queries, and of 12 for keys and values.
inline Transformer tiny_latent() {
  Transformer model = tiny();
  model.kv_heads = 4;
  model.head_size = 4;
  model.latent = Latent{.query_rank = 10, .kv_rank = 12, .rope = 2, .value = 6};
  return model;
}

/// tiny() as FOG: norms after both halves only, none before the head, queries and keys with a fixed
/// gain, an ungated FFN with xIELU.
inline Transformer tiny_fog() {
  Transformer model = tiny();
  model.pre_norms = false;
  model.post_norms = true;
  model.final_norm = false;
  model.qk_norms = true;
  model.qk_gains = false;
  model.gated_ffn = false;
  model.activation = Activation::xielu;
  return model;
}

inline constexpr LayerKind kLocal{.local = true};
inline constexpr LayerKind kGlobal{};

inline const Operation& find(const std::vector<Operation>& operations, std::string_view name) {
  const auto found = std::ranges::find(operations, name, &Operation::name);
  if (found == operations.end()) throw std::out_of_range("no such operation");
  return *found;
}

/// The sum of a field over a whole phase.
inline double total(const Transformer& model, const PhaseOperations& phase,
                    double Operation::*field) {
  const auto sum = [&](const std::vector<Operation>& operations) {
    double value = 0.0;
    for (const Operation& operation : operations) value += operation.*field;
    return value;
  };
  double value = sum(phase.embedding) + sum(phase.head);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    value += sum(phase.layer(layer_kind(model, layer)));
  return value;
}

}  // namespace equarx::workloads::testing
