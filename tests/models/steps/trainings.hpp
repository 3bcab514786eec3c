// A small model and its training setup.
#pragma once

#include "models/steps/training.hpp"

namespace equarx::testing {

/// Two layers of width 64, 4 heads of 16, 2 key and value heads, a gated FFN of 128, a vocabulary
/// of 256.
inline workloads::Transformer small_model() {
  workloads::Transformer model;
  model.name = "small";
  model.layers = 2;
  model.d_model = 64;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_size = 16;
  model.ffn = 128;
  model.vocabulary = 256;
  model.largest_context = 1024;
  return model;
}

/// small_model() with eight experts 32 wide, two of a token, after a dense layer.
inline workloads::Transformer small_experts() {
  workloads::Transformer model = small_model();
  model.experts = workloads::Experts{.count = 8, .top_k = 2, .ffn = 32, .dense_layers = 1};
  return model;
}

/// Eight sequences of 32 positions; all activations are kept, and no key is skipped.
inline steps::Training small_training() {
  steps::Training training;
  training.model = small_model();
  training.sequence = 32;
  training.batch = 8;
  training.attention = {.fused = true};
  return training;
}

/// GEMM weights of one layer of small_model(): q, k, v, output, three of the FFN.
inline constexpr double kLayerMatrices = 64.0 * (64 + 32 + 32) + 64.0 * 64 + 3 * 64.0 * 128;
/// With two norms.
inline constexpr double kLayer = kLayerMatrices + 2 * 64;
/// A table of its vocabulary.
inline constexpr double kTable = 256.0 * 64;

}  // namespace equarx::testing
