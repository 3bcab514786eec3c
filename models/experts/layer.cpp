#include "models/experts/layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/numerics/inputs/inputs.hpp"

namespace equarx::experts {
namespace {

/// Tensors of one seed, as ranks of a generator.
enum class Weights : std::uint32_t { router, gate, up, down };

std::vector<float> drawn(std::uint64_t seed, Weights weights, std::size_t count,
                         std::size_t inputs) {
  std::vector<float> values(count);
  numerics::generate({.seed = seed}, static_cast<std::uint32_t>(weights), 0, values);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(inputs)));
  for (float& value : values) value *= scale;
  return values;
}

double product(std::span<const float> one, std::span<const float> other) {
  double sum = 0.0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += static_cast<double>(one[i]) * other[i];
  return sum;
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }

}  // namespace

Layer drawn_layer(const LayerShape& shape, std::uint64_t seed) {
  const std::size_t matrix = shape.experts * shape.hidden * shape.width;
  return {.shape = shape,
          .router = drawn(seed, Weights::router, shape.experts * shape.width, shape.width),
          .gate = drawn(seed, Weights::gate, matrix, shape.width),
          .up = drawn(seed, Weights::up, matrix, shape.width),
          .down = drawn(seed, Weights::down, matrix, shape.hidden)};
}

std::vector<float> drawn_tokens(std::size_t elements, std::uint64_t seed) {
  std::vector<float> tokens(elements);
  numerics::generate({.seed = seed}, 0, 0, tokens);
  return tokens;
}

std::vector<Choice> choose_experts(const LayerShape& shape, std::span<const float> router,
                                   std::span<const float> token) {
  std::vector<double> logits;
  for (std::uint32_t expert = 0; expert < shape.experts; ++expert)
    logits.push_back(product(router.subspan(expert * shape.width, shape.width), token));
  std::vector<std::uint32_t> order(shape.experts);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order,
                           [&](std::uint32_t a, std::uint32_t b) { return logits[a] > logits[b]; });
  std::vector<Choice> choices;
  double sum = 0.0;
  for (std::uint32_t i = 0; i < shape.top_k; ++i) {
    choices.push_back({order[i], std::exp(logits[order[i]] - logits[order[0]])});
    sum += choices.back().weight;
  }
  for (Choice& choice : choices) choice.weight /= sum;
  return choices;
}

std::vector<float> expert_output(const Layer& layer, std::uint32_t expert,
                                 std::span<const float> token) {
  const std::size_t width = layer.shape.width;
  const std::size_t hidden = layer.shape.hidden;
  const std::size_t first = expert * hidden * width;
  std::vector<float> inner(hidden);
  for (std::size_t i = 0; i < hidden; ++i) {
    const std::size_t row = first + i * width;
    inner[i] = static_cast<float>(silu(product(std::span(layer.gate).subspan(row, width), token)) *
                                  product(std::span(layer.up).subspan(row, width), token));
  }
  std::vector<float> output(width);
  for (std::size_t i = 0; i < width; ++i)
    output[i] = static_cast<float>(
        product(std::span(layer.down).subspan(first + i * hidden, hidden), inner));
  return output;
}

}  // namespace equarx::experts
