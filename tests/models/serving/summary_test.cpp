#include "models/serving/summary.hpp"

#include "tests/catch.hpp"
#include "tests/models/serving/served.hpp"

namespace equarx::serving::summary_test {
namespace {

TEST_CASE("percentiles are interpolated between ranks") {
  const Distribution one = distribution({4.0, 1.0, 2.0, 3.0, 5.0});
  CHECK(one.mean == 3.0);
  CHECK(one.p50 == 3.0);
  CHECK(one.p90 == Approx(4.6));
  CHECK(one.p99 == Approx(4.96));
  CHECK(one.most == 5.0);
  CHECK(distribution({7.0}).p99 == 7.0);
  CHECK(distribution({}).mean == 0.0);
}

TEST_CASE("rates count from the first arrival, latencies from each") {
  const System system{
      .pool = {.served = testing::served(testing::constant(1.0)), .limits = {}, .replicas = 2},
      .prefill = {},
      .load = {}};
  Outcome outcome;
  outcome.records = {{.request = {.arrival_s = 10.0, .prompt = 6, .output = 5},
                      .first_token_s = 12.0,
                      .last_token_s = 20.0},
                     {.request = {.arrival_s = 11.0, .prompt = 4, .output = 1},
                      .first_token_s = 15.0,
                      .last_token_s = 15.0}};
  outcome.end_s = 20.0;
  outcome.totals.steps = 8;
  outcome.totals.decode_tokens = 4.0;
  outcome.totals.busy.compute_s = 5.0;
  const Summary summary = summarize(outcome, system);
  CHECK(summary.ttft.mean == 3.0);
  CHECK(summary.tpot.mean == 2.0);  // of the request with several tokens
  CHECK(summary.latency.mean == 7.0);
  CHECK(summary.requests_per_s == Approx(0.2));
  CHECK(summary.output_tokens_per_s == Approx(0.6));
  CHECK(summary.total_tokens_per_s == Approx(1.6));
  CHECK(summary.tokens_per_s_per_user == 0.5);
  CHECK(summary.utilization == Approx(0.25));
  CHECK(summary.mean_batch == 0.5);
}

}  // namespace
}  // namespace equarx::serving::summary_test
