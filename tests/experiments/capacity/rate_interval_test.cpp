#include "experiments/capacity/rate_interval.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::rate_interval_test {
namespace {

variation::Interval factors(const config::PoolConfig& pool, const Request& request,
                            unsigned threads) {
  const serve::StepCosts costs(pool, 1);
  const serve::PoolMemory memory = serve::pool_memory(pool, request.prompt, "/serving");
  return rate_factors(request, pool, memory, costs, threads).value();
}

TEST_CASE("the nominal rate is inside its interval, which threads do not change") {
  const Request request = testing::small_request();
  const config::PoolConfig pool = testing::pool_of(request, 4);
  const variation::Interval one = factors(pool, request, 1);
  const variation::Interval two = factors(pool, request, 2);
  CHECK(one.low < 1.0);
  CHECK(one.high > 1.0);
  CHECK(one.low == two.low);
  CHECK(one.high == two.high);
}

TEST_CASE("near the limit of TPOT slow machines serve nothing") {
  Request request = testing::small_request();
  const config::PoolConfig pool = testing::pool_of(request, 1);
  const serve::StepCosts costs(pool, 1);
  request.tpot_s = 1.01 * steady_state(request, pool.workload.model, pool.workload.attention, costs,
                                       1, pool.scheduler.limits.tokens)
                              .tpot_s;
  CHECK(factors(pool, request, 1).low == 0.0);
}

}  // namespace
}  // namespace equarx::capacity::rate_interval_test
