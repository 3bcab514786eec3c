#include "models/workloads/transformer.hpp"

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::transformer_test {
namespace {

TEST_CASE("parameters of a tiny transformer match a manual count") {
  Transformer model = testing::tiny();
  // q 8x8, k and v 8x4 each, output 8x8; FFN three times 8x12; two norms of 8.
  const double layer = 64 + 2 * 32 + 64 + 3 * 96 + 16;
  CHECK(layer_parameters(model, testing::kGlobal) == layer);
  CHECK(parameters_without_embeddings(model) == 7 * layer + 8);
  CHECK(embedding_parameters(model) == 30 * 8);
  CHECK(parameters(model) == 7 * layer + 8 + 240);

  model.tied_embeddings = false;
  CHECK(embedding_parameters(model) == 2 * 240);
  model.gated_ffn = false;
  CHECK(layer_parameters(model, testing::kGlobal) == layer - 96);
  model.post_norms = true;
  CHECK(layer_parameters(model, testing::kGlobal) == layer - 96 + 16);
  model.qk_norms = true;
  CHECK(layer_parameters(model, testing::kGlobal) == layer - 96 + 16 + 4);
}

TEST_CASE("norms that are left out have no parameters") {
  Transformer model = testing::tiny_fog();
  // As above, with two matrices of the FFN; two norms of 8, none of queries, keys and the result.
  const double layer = 64 + 2 * 32 + 64 + 2 * 96 + 16;
  CHECK(norm_parameters(model) == 16);
  CHECK(layer_parameters(model, testing::kGlobal) == layer);
  CHECK(parameters(model) == 7 * layer + 240);
  CHECK(active_parameters(model) == parameters(model));
  model.qk_gains = true;
  CHECK(norm_parameters(model) == 16 + 4);
  model.pre_norms = true;
  CHECK(norm_parameters(model) == 32 + 4);
  model.final_norm = true;
  CHECK(final_norm_parameters(model) == 8);
  CHECK(parameters_without_embeddings(model) == 7 * (layer + 20) + 8);
}

TEST_CASE("with two local layers per global one every third is global, and the rest is local") {
  const Transformer model = testing::tiny();
  const std::vector<bool> expected = {true, true, false, true, true, false, true};
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    CHECK(is_local(model, layer) == expected[layer]);
  CHECK(local_layers(model) == 5);
}

TEST_CASE("local_layers matches is_local") {
  Transformer model = testing::tiny();
  for (model.local_layers_per_global = 0; model.local_layers_per_global < 9;
       ++model.local_layers_per_global) {
    std::uint32_t count = 0;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer)
      count += is_local(model, layer) ? 1 : 0;
    CHECK(local_layers(model) == count);
  }
  model.local_layers_per_global = 0;
  CHECK(local_layers(model) == 0);
}

TEST_CASE("an AllReduce sums d_model values of bf16 for each token") {
  CHECK(allreduce_bytes_per_token(testing::gemma3_27b()) == 10752);
}

TEST_CASE("weights have the size of their type") {
  CHECK(bytes_of(WeightType::bf16) == 2.0);
  CHECK(bytes_of(WeightType::fp32) == 4.0);
}

TEST_CASE("kinds of layers are counted in the order of their first layer") {
  Transformer model = testing::tiny();
  const std::vector<KindCount> both = layer_kinds(model);
  REQUIRE(both.size() == 2);
  CHECK(both[0].kind == testing::kLocal);
  CHECK(both[0].layers == 5);
  CHECK(both[1].kind == testing::kGlobal);
  CHECK(both[1].layers == 2);
  model.local_layers_per_global = 0;
  REQUIRE(layer_kinds(model).size() == 1);
  CHECK(layer_kinds(model)[0].kind == testing::kGlobal);
  CHECK(layer_kinds(model)[0].layers == 7);
}

TEST_CASE("every n-th layer after the dense ones has experts") {
  Transformer model = testing::tiny_experts();
  model.experts->dense_layers = 3;
  model.experts->every = 2;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    CHECK(layer_kind(model, layer).experts == (layer == 3 || layer == 5));
}

TEST_CASE("parameters of experts match a manual count") {
  const Transformer model = testing::tiny_experts();
  const LayerKind experts{.local = true, .experts = true};
  const double attention = 64 + 2 * 32 + 64;
  // Three matrices of each; a router; two norms.
  CHECK(layer_parameters(model, experts) == attention + 8 * 3 * 48 + 3 * 32 + 64 + 16);
  CHECK(active_layer_parameters(model, experts) == attention + 2 * 3 * 48 + 3 * 32 + 64 + 16);
  const double dense = attention + 3 * 96 + 16;
  CHECK(layer_parameters(model, testing::kLocal) == dense);
  CHECK(parameters(model) == dense + 6 * layer_parameters(model, experts) + 8 + 240);
  CHECK(active_parameters(model) == dense + 6 * active_layer_parameters(model, experts) + 8 + 240);
}

TEST_CASE("parameters of latent attention match a manual count") {
  Transformer model = testing::tiny_latent();
  // Down 8 x 10 and 8 x 14, up 10 x 4 x 4 and 12 x 4 x (2 + 6), output 4 x 6 x 8; norms of 10 and 12.
  const double rest = 112 + 384 + 192 + 3 * 96 + 16 + 12;
  CHECK(layer_parameters(model, testing::kGlobal) == 80 + 160 + 10 + rest);
  model.latent->query_rank = 0;
  CHECK(layer_parameters(model, testing::kGlobal) == 8 * 16 + rest);
}

}  // namespace
}  // namespace equarx::workloads::transformer_test
