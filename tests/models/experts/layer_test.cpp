#include "models/experts/layer.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::experts::layer_test {
namespace {

TEST_CASE("experts of a token are the best of the router, with weights that sum to 1") {
  const LayerShape shape{.width = 2, .hidden = 1, .experts = 3, .top_k = 2};
  const std::vector<float> router = {1, 0, 0, 1, 2, 0};
  const std::vector<float> token = {1, 0.5F};
  const std::vector<Choice> choices = choose_experts(shape, router, token);
  REQUIRE(choices.size() == 2);
  CHECK(choices[0].expert == 2);
  CHECK(choices[1].expert == 0);
  CHECK(choices[0].weight == Approx(1.0 / (1.0 + std::exp(-1.0))).epsilon(1e-12));
  CHECK(choices[0].weight + choices[1].weight == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("an expert is a gated FFN") {
  Layer layer{.shape = {.width = 2, .hidden = 1, .experts = 2, .top_k = 1},
              .router = {},
              .gate = {9, 9, 1, 2},
              .up = {9, 9, 3, 0},
              .down = {9, 9, 2, -1}};
  const std::vector<float> token = {1, 1};
  const double inner = 3.0 / (1.0 + std::exp(-3.0)) * 3.0;
  const std::vector<float> output = expert_output(layer, 1, token);
  CHECK(output[0] == Approx(2.0 * inner).epsilon(1e-6));
  CHECK(output[1] == Approx(-inner).epsilon(1e-6));
}

TEST_CASE("drawn weights keep the size of activations") {
  const Layer layer = drawn_layer({.width = 256, .hidden = 64, .experts = 8, .top_k = 2}, 1);
  double power = 0.0;
  for (const float weight : layer.gate) power += static_cast<double>(weight) * weight;
  CHECK(power / static_cast<double>(layer.gate.size()) * 256.0 == Approx(1.0).margin(0.02));
  CHECK(layer.down.size() == 8 * 256 * 64);
  CHECK(drawn_layer(layer.shape, 1).router == layer.router);
  CHECK(drawn_layer(layer.shape, 2).router != layer.router);
}

}  // namespace
}  // namespace equarx::experts::layer_test
