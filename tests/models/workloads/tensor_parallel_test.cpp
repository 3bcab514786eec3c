#include "models/workloads/tensor_parallel.hpp"

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::tensor_parallel_test {
namespace {

TEST_CASE("heads, FFN and vocabulary are divided") {
  const Shard share = shard(testing::tiny(), 2);
  CHECK(share.chips == 2);
  CHECK(share.heads == 2);
  CHECK(share.kv_heads == 1);
  CHECK(share.ffn == 6);
  CHECK(share.vocabulary == 15);
}

TEST_CASE("key and value heads are replicated if there are fewer than chips") {
  const Shard share = shard(testing::tiny(), 4);
  CHECK(share.heads == 1);
  CHECK(share.kv_heads == 1);
  CHECK(share.vocabulary == 8);  // 30 rows over 4 chips
}

TEST_CASE("one chip has everything") {
  const Shard share = shard(testing::tiny(), 1);
  CHECK(share.heads == 4);
  CHECK(share.kv_heads == 2);
  CHECK(share.ffn == 12);
  CHECK(share.vocabulary == 30);
}

TEST_CASE("every query head is on a chip with its key head") {
  Transformer model = testing::tiny();
  model.heads = 12;
  model.kv_heads = 4;
  const std::uint32_t group = model.heads / model.kv_heads;
  for (const std::uint32_t chips : {1U, 2U, 4U, 12U}) {
    CAPTURE(chips);
    const Shard share = shard(model, chips);
    CHECK(share.heads * chips == model.heads);
    // Query heads of one chip, in order over the chips, belong to share.kv_heads groups.
    for (std::uint32_t chip = 0; chip < chips; ++chip) {
      const std::uint32_t first = chip * share.heads / group;
      const std::uint32_t last = ((chip + 1) * share.heads - 1) / group;
      CHECK(last - first + 1 == share.kv_heads);
    }
  }
}

TEST_CASE("indivisible models are rejected with supported degrees") {
  Transformer model = testing::tiny();
  CHECK_THROWS_WITH(
      shard(model, 3),
      "4 heads of tiny cannot be divided over 3 chips; tensor parallelism takes 1, 2, 4");
  CHECK_THROWS_WITH(shard(model, 8),
                    ContainsSubstring("4 heads of tiny") && ContainsSubstring("over 8 chips"));
  CHECK_THROWS_WITH(shard(model, 0), ContainsSubstring("over 0 chips; tensor parallelism takes 1"));
  CHECK_THROWS_AS(shard(model, 4294967295U), std::invalid_argument);
  model.ffn = 13;
  CHECK_THROWS_WITH(shard(model, 2),
                    "an FFN of width 13 of tiny cannot be divided over 2 chips; "
                    "tensor parallelism takes 1");
  model.heads = 12;
  model.kv_heads = 4;
  model.ffn = 12;
  // Six chips with two query heads each: some would need two key heads, others one.
  CHECK_THROWS_WITH(shard(model, 6), ContainsSubstring("4 key and value heads of tiny") &&
                                         ContainsSubstring("takes 1, 2, 4, 12"));
}

TEST_CASE("experts are divided by their width") {
  Transformer model = testing::tiny_experts();
  CHECK(shard(model, 2).expert_ffn == 3);
  CHECK(shard(model, 2).shared_ffn == 2);
  CHECK_THROWS_WITH(shard(model, 4), ContainsSubstring("experts of width 6 of tiny"));
  model.ffn = 13;
  CHECK_THROWS_WITH(shard(model, 2), ContainsSubstring("an FFN of width 13"));
  model.experts->dense_layers = 0;
  CHECK(shard(model, 2).expert_ffn == 3);  // no layer has the FFN
}

}  // namespace
}  // namespace equarx::workloads::tensor_parallel_test
