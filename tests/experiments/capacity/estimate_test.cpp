#include "experiments/capacity/estimate.hpp"

#include "experiments/serve/serve.hpp"
#include "models/serving/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::estimate_test {
namespace {

using testing::pool_of;
using testing::small_request;

TEST_CASE("the steady state is that of a simulated load with as many requests in flight") {
  const Request request = small_request();
  for (const std::uint32_t sequences : {4U, 32U}) {
    CAPTURE(sequences);
    const config::PoolConfig pool = pool_of(request, 1, sequences);
    const serve::StepCosts costs(pool, 1);
    const SteadyState state =
        steady_state(request, pool.workload.model, pool.workload.attention, costs, sequences, 2048);
    serving::System system{
        .pool = serve::pool_of(pool, serve::pool_memory(pool, 512, "/serving"), costs),
        .prefill = {},
        .load = {.requests = 40 * sequences,
                 .concurrency = sequences,
                 // Lengths vary, so that requests do not move in step.
                 .prompt = {.mean = 512.0},
                 .output = {.kind = serving::LengthKind::uniform, .least = 44, .most = 84}}};
    const auto requests = serving::draw(system.load);
    const serving::Summary summary =
        serving::summarize(serving::simulate(system, requests), system);
    CHECK(summary.requests_per_s == Approx(state.requests_per_s).epsilon(0.12));
  }
}

TEST_CASE("a prompt without load takes its chunks one after the other") {
  const Request request = small_request();
  const config::PoolConfig pool = pool_of(request, 1);
  const serve::StepCosts costs(pool, 1);
  const auto ttft = [&](std::uint64_t tokens) {
    return unloaded_ttft(request, pool.workload.model, pool.workload.attention, costs, tokens);
  };
  workloads::Batch whole;
  whole.add(pool.workload.model, {512.0, 512.0, 1.0}, pool.workload.attention, true);
  CHECK(ttft(2048) == costs.time(whole).total_s());
  CHECK(ttft(128) > ttft(2048));  // weights are read four times
}

TEST_CASE("the largest state meets the limit, and one more sequence does not") {
  Request request = small_request();
  request.tpot_s = 0.02;
  const config::PoolConfig pool = pool_of(request, 1);
  const serve::StepCosts costs(pool, 1);
  const auto largest = [&](std::uint32_t most) {
    return largest_state(request, pool.workload.model, pool.workload.attention, costs, most, 2048);
  };
  const SteadyState state = largest(4096);
  REQUIRE(state.sequences > 1);
  REQUIRE(state.sequences < 4096);
  CHECK(state.tpot_s <= 0.02);
  CHECK(steady_state(request, pool.workload.model, pool.workload.attention, costs,
                     state.sequences + 1, 2048)
            .tpot_s > 0.02);
  CHECK(largest(3).sequences == 3);
  CHECK(largest(0).sequences == 0);
  request.tpot_s = 1e-6;
  CHECK(largest(10).sequences == 0);
}

}  // namespace
}  // namespace equarx::capacity::estimate_test
