#include "models/workloads/attention.hpp"

#include <limits>

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::attention_test {
namespace {

using testing::find;
using testing::tiny;

/// Attention of a phase.
std::vector<Operation> operations_of(const Transformer& model, const Phase& phase,
                                     const Shard& part, const AttentionMethod& method, bool local) {
  return attention_operations(model, attended(model, extent(phase), method, local), part, method);
}

/// Counts query-key pairs one by one.
double counted_pairs(std::uint32_t queries, std::uint32_t keys, std::uint32_t window,
                     const AttentionMethod& method, bool local) {
  double count = 0.0;
  for (std::uint32_t i = 0; i < queries; ++i) {
    const std::uint32_t position = keys - queries + i;
    for (std::uint32_t key = 0; key < keys; ++key) {
      const bool past = key <= position;
      const bool near = past && position - key < window;
      if (method.skips_future && !past) continue;
      if (method.skips_outside_window && local && !near) continue;
      count += 1.0;
    }
  }
  return count;
}

TEST_CASE("computed scores match a brute-force count") {
  const Transformer model = tiny();
  for (const std::uint32_t tokens : {1U, 2U, 3U, 4U, 17U})
    for (const bool local : {false, true}) {
      CAPTURE(tokens, local);
      const Extent prefill = extent(Prefill{tokens, 2});
      for (const AttentionMethod& method :
           {AttentionMethod{}, AttentionMethod{.skips_future = true},
            AttentionMethod{.skips_future = true, .skips_outside_window = true}})
        CHECK(score_pairs(model, prefill, method, local) ==
              counted_pairs(tokens, tokens, model.window, method, local));
      const Extent decode = extent(Decode{tokens, 2});
      for (const AttentionMethod& method :
           {AttentionMethod{}, AttentionMethod{.skips_future = true},
            AttentionMethod{.skips_future = true, .skips_outside_window = true}})
        CHECK(score_pairs(model, decode, method, local) ==
              counted_pairs(1, tokens, model.window, method, local));
    }
}

TEST_CASE(
    "chunks of a prompt compute the pairs of the whole, and read earlier keys from the cache") {
  const Transformer model = tiny();
  for (const AttentionMethod& method :
       {AttentionMethod{.skips_future = true},
        AttentionMethod{.skips_future = true, .skips_outside_window = true}})
    for (const bool local : {false, true}) {
      Attended total;
      for (const auto& [queries, keys] : {std::pair{7, 7}, {5, 12}, {1, 13}, {4, 17}}) {
        const Extent chunk{static_cast<double>(queries), static_cast<double>(keys), 1.0};
        CHECK(score_pairs(model, chunk, method, local) ==
              counted_pairs(queries, keys, model.window, method, local));
        total += attended(model, chunk, method, local);
      }
      const Attended whole = attended(model, extent(Prefill{17, 1}), method, local);
      CHECK(total.rows == 17);
      CHECK(total.pairs == whole.pairs);
      CHECK(whole.cached == 0);
      const bool windowed = method.skips_outside_window && local;
      // A chunk of one position is like decoding: it reads its own key from the cache.
      CHECK(total.fresh == 16);
      CHECK(total.cached == (windowed ? 3 + 3 + 3 : 7 + 13 + 13));
    }
}

TEST_CASE("a window without causality is a band as wide as the window") {
  const AttentionMethod method{.skips_outside_window = true};
  CHECK(score_pairs(tiny(), extent(Prefill{10, 1}), method, true) == 30);
  CHECK(score_pairs(tiny(), extent(Prefill{10, 1}), method, false) == 100);
  CHECK(score_pairs(tiny(), extent(Prefill{2, 1}), method, true) == 4);
}

TEST_CASE("unfused attention matches a manual calculation") {
  // Two chips: 2 query heads, 1 key head of size 2. 5 tokens, 3 prompts: 25 scores x 2 x 3 = 150.
  const Transformer model = tiny();
  const AttentionMethod method{.score_bytes = 4.0, .score_passes = 5.0};
  const auto operations = operations_of(model, Prefill{5, 3}, shard(model, 2), method, true);
  REQUIRE(operations.size() == 3);
  const Operation& scores = find(operations, "scores");
  CHECK(scores.flops == 150 * 2 * 2);
  CHECK(scores.read_bytes == 15 * 2 * 2 * 2 + 15 * 1 * 2 * 2);  // queries, keys
  CHECK(scores.written_bytes == 600);
  CHECK(scores.vector_ops == 0);
  const Operation& softmax = find(operations, "softmax");
  CHECK(softmax.flops == 0);
  CHECK(softmax.vector_ops > 150);
  CHECK(softmax.hbm_bytes() == 3 * 600);
  const Operation& values = find(operations, "values");
  CHECK(values.flops == 150 * 2 * 2);
  CHECK(values.read_bytes == 600 + 15 * 1 * 2 * 2);
  CHECK(values.written_bytes == 15 * 2 * 2 * 2);
  for (const Operation& operation : operations) {
    CHECK(operation.kind == OperationKind::attention);
    CHECK(operation.weight_bytes == 0);
  }
}

TEST_CASE("fused attention does the same arithmetic without score traffic") {
  const Transformer model = tiny();
  const Prefill prompts{5, 3};
  const auto fused =
      operations_of(model, prompts, shard(model, 2), AttentionMethod{.fused = true}, false);
  const auto unfused = operations_of(model, prompts, shard(model, 2), AttentionMethod{}, false);
  REQUIRE(fused.size() == 1);
  CHECK(fused[0].name == "attention");
  CHECK(fused[0].flops == unfused[0].flops + unfused[2].flops);
  CHECK(fused[0].vector_ops == unfused[1].vector_ops);
  // Queries and result, 15 x 2 heads x 2 x 2 B each; keys and values, 15 x 1 head x 2 x 2 B each.
  CHECK(fused[0].hbm_bytes() == 2 * 120 + 2 * 60);
}

TEST_CASE("decoding reads the cache of every sequence, or its window") {
  const Transformer model = tiny();
  const Extent size = extent(Decode{40, 2});
  const AttentionMethod all{.fused = true};
  const AttentionMethod window{.fused = true, .skips_outside_window = true};
  const auto read = [&](const AttentionMethod& method, bool local) {
    return operations_of(model, Decode{40, 2}, shard(model, 1), method, local)[0].read_bytes;
  };
  const double queries = 2 * 4 * 2 * 2;           // sequences, heads, size, bytes
  const double per_position = 2 * 2 * 2 * 2 * 2;  // sequences, heads, size, bytes, key and value
  CHECK(read(all, true) == queries + 40 * per_position);
  CHECK(read(window, true) == queries + 3 * per_position);
  CHECK(read(window, false) == queries + 40 * per_position);
  CHECK(cached_keys(model, size, window, true) == 3);
  CHECK(cached_keys(model, extent(Decode{2, 1}), window, true) == 2);
}

TEST_CASE("decoding reads cached keys and values in their format, a prompt in bf16") {
  const Transformer model = tiny();
  const Shard one = shard(model, 1);
  const AttentionMethod half{.fused = true, .kv_bytes = 1.0};
  const auto bytes = [&](const Phase& phase, const AttentionMethod& method) {
    return operations_of(model, phase, one, method, false).front().read_bytes;
  };
  const double keys = 2 * 3 * 20.0 * 2 * 2;  // key and value, sequences, positions, heads, size
  CHECK(bytes(Decode{20, 3}, {.fused = true}) - bytes(Decode{20, 3}, half) == keys);
  CHECK(bytes(Prefill{20, 3}, {.fused = true}) == bytes(Prefill{20, 3}, half));
}

TEST_CASE("invalid methods are rejected, unless attention is fused") {
  CHECK_THROWS_WITH(check_method({.score_passes = 1.9}), ContainsSubstring("1.9 times"));
  CHECK_THROWS_AS(check_method({.score_passes = std::numeric_limits<double>::quiet_NaN()}),
                  std::invalid_argument);
  CHECK_THROWS_WITH(check_method({.score_bytes = 0.0}), ContainsSubstring("more than 0"));
  CHECK_NOTHROW(check_method({.score_passes = 2.0}));
  CHECK_NOTHROW(check_method({.fused = true, .score_bytes = 0.0, .score_passes = 0.0}));
}

TEST_CASE("a prompt of latent attention expands keys and values of all heads") {
  const Transformer model = testing::tiny_latent();
  const AttentionMethod method{.fused = true};
  const auto all = operations_of(model, Prefill{5, 3}, shard(model, 2), method, false);
  REQUIRE(all.size() == 2);
  const Operation& expand = testing::find(all, "expand");
  CHECK(expand.flops == 2 * 15 * 12 * 2 * (2 + 6));  // two heads
  CHECK(expand.weight_bytes == 12 * 16 * 2);
  CHECK(expand.read_bytes == 15 * 12 * 2);
  const Operation& attention = testing::find(all, "attention");
  CHECK(attention.flops == 2.0 * 3 * 25 * 2 * (4 + 6));
  CHECK(attention.read_bytes == 15 * 2 * (4 + 4 + 6) * 2);
  CHECK(attention.written_bytes == 15 * 2 * 6 * 2);
}

TEST_CASE("decoding with latent attention reads one vector for all heads") {
  const Transformer model = testing::tiny_latent();
  const AttentionMethod method{.fused = true, .kv_bytes = 1.0};
  const auto all = operations_of(model, Decode{40, 2}, shard(model, 2), method, false);
  const Operation& queries = testing::find(all, "absorb_queries");
  CHECK(queries.flops == 2 * 2 * 2 * 2 * 12);  // rows, heads, 2 x 12
  CHECK(queries.weight_bytes == 2 * 2 * 12 * 2);
  const Operation& attention = testing::find(all, "attention");
  CHECK(attention.flops == 2.0 * 2 * 40 * 2 * (14 + 12));
  CHECK(attention.read_bytes == 2 * 2 * 14 * 2 + 2 * 40 * 14);
  CHECK(attention.written_bytes == 2 * 2 * 12 * 2);
  const Operation& values = testing::find(all, "absorb_values");
  CHECK(values.flops == 2 * 2 * 2 * 12 * 6);
  CHECK(cached_elements(model, 2) == 14);
  // The two products have the weights of the expansion.
  const auto prompt = operations_of(model, Prefill{5, 3}, shard(model, 2), method, false);
  CHECK(queries.weight_bytes + values.weight_bytes == testing::find(prompt, "expand").weight_bytes);
}

}  // namespace
}  // namespace equarx::workloads::attention_test
