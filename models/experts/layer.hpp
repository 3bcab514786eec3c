// A layer of experts on tensors: router and gated FFNs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace equarx::experts {

/// Sizes of a layer, all at least 1.
struct LayerShape {
  std::size_t width = 1;   ///< elements of a token
  std::size_t hidden = 1;  ///< inner width of an expert
  std::uint32_t experts = 1;
  std::uint32_t top_k = 1;  ///< at most `experts`
};

/// Weights of a layer, row-major.
struct Layer {
  LayerShape shape;
  std::vector<float> router;  ///< experts x width
  std::vector<float> gate;    ///< experts x hidden x width
  std::vector<float> up;      ///< the same
  std::vector<float> down;    ///< experts x width x hidden
};

/// Normal weights, of variance 1 / inputs, so that activations keep their size.
Layer drawn_layer(const LayerShape& shape, std::uint64_t seed);

/// Normal tokens of variance 1, `elements` in all.
std::vector<float> drawn_tokens(std::size_t elements, std::uint64_t seed);

/// An expert of a token with its weight, which is positive; the weights of a token sum to 1.
struct Choice {
  std::uint32_t expert = 0;
  double weight = 0.0;
};

/// Returns the top_k experts of a token by the products with the rows of `router`, best first, with
/// the softmax of their logits. Ties go to the lower number.
std::vector<Choice> choose_experts(const LayerShape& shape, std::span<const float> router,
                                   std::span<const float> token);

/// Returns the output of an expert, down (SiLU(gate x) * up x), summed in FP64.
std::vector<float> expert_output(const Layer& layer, std::uint32_t expert,
                                 std::span<const float> token);

}  // namespace equarx::experts
