#include "experiments/capacity/steady.hpp"

#include "experiments/serve/serve.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::steady_test {
namespace {

TEST_CASE("the KV cache limits the sequences") {
  Request request = testing::small_request();
  request.tpot_s = 100.0;
  const config::PoolConfig pool = testing::pool_of(request, 1);
  const serve::StepCosts costs(pool, 1);
  const serve::PoolMemory memory = serve::pool_memory(pool, request.prompt, "/serving");
  CHECK(steady(request, pool, memory, costs).sequences ==
        static_cast<std::uint32_t>(memory.positions / (512 + 64)));
}

}  // namespace
}  // namespace equarx::capacity::steady_test
