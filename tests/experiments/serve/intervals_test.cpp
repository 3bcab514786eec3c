#include "experiments/serve/intervals.hpp"

#include <string>

#include "experiments/serve/serve.hpp"
#include "tests/catch.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::intervals_test {
namespace {

using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;
using variation::Interval;

constexpr int kSamples = 40;

input::Json config_of(const TemporaryFile& model, const std::string& slice = "2x2") {
  input::Json json = served_config(model.path(), slice);
  json["uncertainty"] = {{"samples", kSamples}};
  return json;
}

ServeResult served(const input::Json& json, unsigned threads = 1) {
  return serve(config::read_serving(json), {.threads = threads});
}

void check_inside(const Interval& interval, double value) {
  CHECK(interval.low <= value);
  CHECK(value <= interval.high);
}

bool are_equal(const Interval& one, const Interval& other) {
  return one.low == other.low && one.high == other.high;
}

double width(const Interval& interval) { return interval.high / interval.low; }

TEST_CASE("nominal latencies and rates are inside their intervals") {
  const TemporaryFile model(tiny_model().dump());
  const ServeResult result = served(config_of(model));
  REQUIRE(result.intervals);
  const LoadIntervals& all = *result.intervals;
  CHECK(all.samples == kSamples);
  check_inside(all.ttft.p50, result.summary.ttft.p50);
  check_inside(all.tpot.mean, result.summary.tpot.mean);
  check_inside(all.itl.p99, result.summary.itl.p99);
  check_inside(all.output_tokens_per_s, result.summary.output_tokens_per_s);
  check_inside(*all.dollars_per_million, *result.dollars_per_million());
  CHECK(width(all.tpot.mean) > 1.1);
  CHECK(width(all.requests_per_s) < 1.1);  // arrivals set the rate
}

TEST_CASE("intervals depend on the seed, not on threads") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = config_of(model);
  const LoadIntervals one = *served(json, 1).intervals;
  const LoadIntervals two = *served(json, 2).intervals;
  CHECK(are_equal(one.ttft.p90, two.ttft.p90));
  CHECK(are_equal(one.output_tokens_per_s, two.output_tokens_per_s));
  json["uncertainty"]["seed"] = 2;
  CHECK_FALSE(are_equal(one.ttft.p90, served(json).intervals->ttft.p90));
}

TEST_CASE("a more uncertain parameter widens intervals") {
  const TemporaryFile model(tiny_model().dump());
  const auto tpot = [&](double error) {
    config::ServingConfig config = config::read_serving(config_of(model, "1x1"));
    config.pool.machine.chip.hbm_bandwidth.standard_error = error;
    return serve(config, {}).intervals->tpot.mean;
  };
  constexpr double kGiga = 1e9;
  CHECK(width(tpot(kGiga)) < width(tpot(300.0 * kGiga)));
}

TEST_CASE("sampled steps are those of the machine, times the factor") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = config::read_serving(config_of(model)).pool;
  const StepCosts nominal(pool, 1);
  const StepCosts same(pool, nominal, 1.0);
  const StepCosts slow(pool, nominal, 1.5);
  workloads::Batch batch;
  batch.add(pool.workload.model, {1.0, 300.0, 17.0}, pool.workload.attention, true);
  CHECK(same.time(batch).total_s() == Approx(nominal.time(batch).total_s()).epsilon(1e-9));
  CHECK(slow.time(batch).total_s() == Approx(1.5 * nominal.time(batch).total_s()).epsilon(1e-9));
  config::PoolConfig faster = pool;
  faster.machine.chip.link_bandwidth.value *= 2.0;
  faster.machine.topology.planned = nullptr;
  CHECK(StepCosts(faster, nominal, 1.0).communication_s(256) < nominal.communication_s(256));
}

TEST_CASE("a flag requests intervals, whose number is in the configuration") {
  const TemporaryFile model(tiny_model().dump());
  const ServeResult result =
      serve(config::read_serving(served_config(model.path(), "1x1")), {.uncertainty = true});
  REQUIRE(result.intervals);
  CHECK(result.intervals->samples == result.config.pool.machine.uncertainty.samples);
  CHECK(result.intervals->samples >= 20);
  CHECK_FALSE(served(served_config(model.path(), "1x1")).intervals);
}

TEST_CASE("both pools are drawn, alike if they have the same chip") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = config_of(model, "1x1");
  json["serving"]["prefill"] = {{"bandwidth", "1 GB/s"}};
  const ServeResult result = served(json);
  REQUIRE(result.intervals);
  check_inside(result.intervals->ttft.mean, result.summary.ttft.mean);
  const config::PoolConfig& pool = result.config.pool;
  CHECK(sampled_pool(pool, 1, 5).machine.chip.hbm_efficiency.value ==
        sampled_pool(result.config.prefill->pool, 1, 5).machine.chip.hbm_efficiency.value);
}

}  // namespace
}  // namespace equarx::serve::intervals_test
