#include "models/workloads/footprint.hpp"

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::footprint_test {
namespace {

using testing::gemma3_27b;
using testing::tiny;

Footprint footprint_of(const Transformer& model, const Phase& phase, std::uint32_t chips,
                       const AttentionMethod& method) {
  return footprint(model, phase, chips, method, phase_operations(model, phase, chips, method));
}

TEST_CASE("a single chip has every weight once") {
  Transformer model = tiny();
  CHECK(footprint_of(model, Prefill{5, 1}, 1, {}).weights == 2 * parameters(model));
  model.tied_embeddings = false;
  model.post_norms = true;
  model.qk_norms = true;
  model.weights = WeightType::fp32;
  CHECK(footprint_of(model, Prefill{5, 1}, 1, {}).weights == 4 * parameters(model));
  const Transformer fog = testing::tiny_fog();
  CHECK(footprint_of(fog, Prefill{5, 1}, 1, {}).weights == 2 * parameters(fog));
}

TEST_CASE("matrices are sharded, norms are replicated") {
  const Transformer model = tiny();
  // Two chips: q 8x4, k and v 8x2 each, output 4x8, FFN three times 8x6; norms 16; table 15x8; norm
  // 8.
  CHECK(footprint_of(model, Prefill{5, 1}, 2, {}).weights ==
        2 * (7 * (32 + 32 + 32 + 144 + 16) + 120 + 8));
}

TEST_CASE("the KV cache has every position of every layer, or the window of local ones") {
  const Transformer model = tiny();
  const double position = 2 * 2 * 2 * 2;  // key and value, two heads of size two, bf16
  CHECK(footprint_of(model, Decode{20, 3}, 1, {}).kv_cache == 3 * 7 * 20 * position);
  CHECK(footprint_of(model, Prefill{20, 3}, 1, {}).kv_cache == 3 * 7 * 20 * position);
  CHECK(footprint_of(model, Decode{20, 3}, 1, {.kv_bytes = 0.5}).kv_cache ==
        3 * 7 * 20 * position / 4);
  const AttentionMethod window{.skips_outside_window = true};
  CHECK(footprint_of(model, Decode{20, 3}, 1, window).kv_cache == 3 * (5 * 3 + 2 * 20) * position);
  CHECK(footprint_of(model, Decode{20, 3}, 2, window).kv_cache ==
        3 * (5 * 3 + 2 * 20) * position / 2);
  // Four chips share two heads, one each.
  CHECK(footprint_of(model, Decode{20, 3}, 4, window).kv_cache ==
        3 * (5 * 3 + 2 * 20) * position / 2);
}

TEST_CASE("activations are the residual and the largest live data of an operation") {
  const Transformer model = tiny();
  // 60 rows x 8 x 2 B. Softmax: scores and probabilities, 60 x 60 x 4 heads x 2 B each.
  CHECK(footprint_of(model, Prefill{60, 1}, 1, {}).activations == 60 * 16 + 2 * 60 * 60 * 4 * 2);
  // Activation: gate and up, 60 x 12 x 2 B each, and their product.
  CHECK(footprint_of(model, Prefill{60, 1}, 1, {.fused = true}).activations ==
        60 * 16 + 3 * 60 * 12 * 2);
}

TEST_CASE("Gemma 3 27B fits sixteen chips of 16 GB and not two") {
  const Footprint sixteen = footprint_of(gemma3_27b(), Prefill{4096, 1}, 16, {});
  CHECK(missing_bytes(sixteen, 16e9) == 0.0);
  // 27 billion parameters, 2 bytes each, over 16 chips.
  CHECK(sixteen.weights == Approx(27.0e9 * 2 / 16).epsilon(0.01));
  const Footprint two = footprint_of(gemma3_27b(), Prefill{4096, 1}, 2, {});
  CHECK(missing_bytes(two, 16e9) == two.total() - 16e9);
  CHECK(missing_bytes(two, 16e9) > 10e9);
  CHECK(missing_bytes(two, two.total()) == 0.0);
}

TEST_CASE("a footprint is the sum of its parts") {
  CHECK(Footprint{1.0, 20.0, 300.0}.total() == 321.0);
}

TEST_CASE("a chip holds all its experts, read or not, and latent vectors once") {
  const Transformer experts = testing::tiny_experts();
  CHECK(footprint_of(experts, Decode{5, 1}, 1, {}).weights == Approx(2 * parameters(experts)));
  const Transformer latent = testing::tiny_latent();
  for (const Phase& phase : {Phase(Decode{5, 3}), Phase(Prefill{5, 3})}) {
    CHECK(footprint_of(latent, phase, 1, {}).weights == Approx(2 * parameters(latent)));
    CHECK(footprint_of(latent, phase, 2, {}).kv_cache == 3 * 7 * 5 * 14 * 2);
  }
}

}  // namespace
}  // namespace equarx::workloads::footprint_test
