#include "models/serving/kv_cache.hpp"

#include "models/workloads/footprint.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::serving::kv_cache_test {
namespace {

using workloads::AttentionMethod;

TEST_CASE("a sequence needs the bytes of its positions, local layers those of their window") {
  const workloads::Transformer model = workloads::testing::tiny();
  for (const AttentionMethod& method :
       {AttentionMethod{.fused = true},
        AttentionMethod{.fused = true, .skips_outside_window = true},
        AttentionMethod{.fused = true, .kv_bytes = 0.5}})
    for (const std::uint32_t chips : {1U, 2U}) {
      const KvCache cache(model, method, chips, 1, 1e9);
      for (const std::uint64_t positions : {1U, 2U, 3U, 4U, 50U})
        CHECK(cache.bytes(positions) ==
              Approx(workloads::cache_bytes(model, {1.0, static_cast<double>(positions), 1.0},
                                            chips, method)));
    }
}

TEST_CASE("blocks are whole") {
  const workloads::Transformer model = workloads::testing::tiny();
  const KvCache cache(model, {.fused = true}, 1, 16, 1e9);
  CHECK(cache.bytes(0) == 0.0);
  CHECK(cache.bytes(1) == cache.bytes(16));
  CHECK(cache.bytes(17) == 2.0 * cache.bytes(16));
}

}  // namespace
}  // namespace equarx::serving::kv_cache_test
