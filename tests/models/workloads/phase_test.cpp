#include "models/workloads/phase.hpp"

#include "base/exceptions/exceptions.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::phase_test {
namespace {

TEST_CASE("prefill computes every position, decoding one of each sequence") {
  const Extent prefill = extent(Prefill{.tokens = 10, .batch = 3});
  CHECK(prefill.queries == 10);
  CHECK(prefill.keys == 10);
  CHECK(prefill.rows() == 30);
  const Extent decode = extent(Decode{.context = 10, .batch = 3});
  CHECK(decode.queries == 1);
  CHECK(decode.keys == 10);
  CHECK(decode.rows() == 3);
}

TEST_CASE("an AllReduce has d_model values of bf16 for each row") {
  const Transformer model = testing::gemma3_27b();
  CHECK(allreduce_bytes(model, Prefill{4096, 1}) == 44040192);
  CHECK(allreduce_bytes(model, Prefill{4096, 2}) == 2.0 * 44040192);
  CHECK(allreduce_bytes(model, Decode{4096, 2}) == 2.0 * 10752);
}

TEST_CASE("phases the model does not support are rejected") {
  const Transformer model = testing::tiny();
  CHECK_NOTHROW(check_phase(model, Prefill{1, 1}));
  CHECK_NOTHROW(check_phase(model, Prefill{64, 1}));
  CHECK_NOTHROW(check_phase(model, Decode{64, 1}));
  CHECK_THROWS_WITH(check_phase(model, Prefill{0, 1}), "tokens: is 0; tiny takes 1 to 64");
  CHECK_THROWS_WITH(check_phase(model, Prefill{65, 1}), "tokens: is 65; tiny takes 1 to 64");
  CHECK_THROWS_WITH(check_phase(model, Decode{0, 1}), "context: is 0; tiny takes 1 to 64");
  CHECK_THROWS_WITH(check_phase(model, Decode{65, 1}), "context: is 65; tiny takes 1 to 64");
  CHECK_THROWS_WITH(check_phase(model, Prefill{1, 0}), "batch: is 0; it must be at least 1");
  CHECK_THROWS_AS(check_phase(model, Decode{1, 0}), exceptions::UserError);
}

}  // namespace
}  // namespace equarx::workloads::phase_test
