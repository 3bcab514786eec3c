#include "experiments/serve/step_costs.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::step_costs_test {
namespace {

using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;
using workloads::Batch;

/// Largest number of tokens per step in these tests.
constexpr std::uint64_t kTokens = 1024;

config::PoolConfig pool_of(const std::string& model, const std::string& slice,
                           const input::Json& more = input::Json::object()) {
  input::Json json = served_config(model, slice);
  json["serving"]["scheduler"]["tokens"] = kTokens;
  json["serving"].update(more);
  return config::read_serving(json).pool;
}

/// Time of a phase, as a whole simulated step.
double simulated_s(const config::PoolConfig& pool, const workloads::Phase& phase) {
  config::StepConfig config =
      config::step_of(pool, static_cast<std::uint64_t>(workloads::extent(phase).rows()));
  input::Json json = config::to_json(config);
  input::Json& workload = json["step"]["workload"];
  for (const char* const key : {"phase", "context", "tokens", "batch"}) workload.erase(key);
  if (const auto* decode = std::get_if<workloads::Decode>(&phase)) {
    workload["phase"] = "decode";
    workload["context"] = decode->context;
    workload["batch"] = decode->batch;
  } else {
    const auto& prefill = std::get<workloads::Prefill>(phase);
    workload["phase"] = "prefill";
    workload["tokens"] = prefill.tokens;
    workload["batch"] = prefill.batch;
  }
  const step::StepPlan plan = step::make_plan(config::read_step_config(json));
  return step::run_variant(plan, plan.variants.front(), "serving").time_s;
}

/// The positions of a phase as a batch; each sequence yields a token.
Batch batch_of(const config::PoolConfig& pool, const workloads::Phase& phase) {
  Batch batch;
  batch.add(pool.workload.model, workloads::extent(phase), pool.workload.attention, true);
  return batch;
}

/// Largest difference between the step's time by a table of costs, and simulated as a whole.
void check_times(const config::PoolConfig& pool, const workloads::Phase& phase, double tolerance) {
  const StepCosts costs(pool, 1);
  const double expected = simulated_s(pool, phase);
  CHECK(costs.time(batch_of(pool, phase)).total_s() == Approx(expected).epsilon(tolerance));
}

TEST_CASE("on one chip a step takes exactly as long as simulated") {
  const TemporaryFile model(tiny_model().dump());
  for (const input::Json& more :
       {input::Json::object(), input::Json{{"kv", "int8-row"}, {"precision", "weight-only-int8"}},
        input::Json{{"attention", {{"method", "unfused"}}}},
        input::Json{{"attention",
                     {{"method", "fused"}, {"skips_future", true}, {"skips_outside_window", true}}},
                    {"chunks", 4}}}) {
    const config::PoolConfig pool = pool_of(model.path(), "1x1", more);
    CAPTURE(more.dump());
    check_times(pool, workloads::Decode{.context = 777, .batch = 37}, 1e-9);
    check_times(pool, workloads::Decode{.context = 50, .batch = 3}, 1e-9);
    check_times(pool, workloads::Prefill{.tokens = 300, .batch = 2}, 1e-9);
  }
}

TEST_CASE("between simulated steps communication is interpolated within the reported error") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = pool_of(model.path(), "2x2");
  const StepCosts costs(pool, 1);
  CHECK(costs.simulated() > 11);  // powers of two, and numbers in between
  CHECK(costs.interpolation_error() <= StepCosts::kTolerance);
  for (const std::uint32_t rows : {1, 7, 53, 100, 300, 777, 1000}) {
    CAPTURE(rows);
    const workloads::Phase phase = workloads::Decode{.context = 500, .batch = rows};
    // The error found at other numbers of positions bounds these only roughly.
    const double tolerance = std::max(2.0 * costs.interpolation_error(), 1e-9);
    CHECK(costs.time(batch_of(pool, phase)).total_s() ==
          Approx(simulated_s(pool, phase)).epsilon(tolerance));
  }
}

TEST_CASE("at simulated numbers of positions steps are exact") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = pool_of(model.path(), "2x2");
  check_times(pool, workloads::Decode{.context = 900, .batch = 64}, 1e-9);
  check_times(pool, workloads::Prefill{.tokens = 512}, 1e-9);
}

TEST_CASE("threads do not change times") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = pool_of(model.path(), "2x2");
  const StepCosts one(pool, 1);
  const StepCosts two(pool, 2);
  for (const double rows : {1.0, 9.0, 411.0, 1024.0})
    CHECK(one.communication_s(rows) == two.communication_s(rows));
}

TEST_CASE("a prompt beyond the limit of a step communicates in proportion") {
  const TemporaryFile model(tiny_model().dump());
  const StepCosts costs(pool_of(model.path(), "2x2"), 1);
  CHECK(costs.communication_s(2.0 * kTokens) == Approx(2.0 * costs.communication_s(kTokens)));
}

TEST_CASE("prompts and decoding in one step attend apart, and share all else") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = pool_of(model.path(), "1x1");
  const StepCosts costs(pool, 1);
  const workloads::Phase decode = workloads::Decode{.context = 500, .batch = 30};
  const workloads::Phase prefill = workloads::Prefill{.tokens = 200};
  Batch both = batch_of(pool, decode);
  both.add(pool.workload.model, workloads::extent(prefill), pool.workload.attention, true);
  CHECK(both.rows == 230.0);
  const double together = costs.time(both).compute_s;
  const double decoding = costs.time(batch_of(pool, decode)).compute_s;
  const double prompts = costs.time(batch_of(pool, prefill)).compute_s;
  CHECK(together > std::max(decoding, prompts));
  CHECK(together < decoding + prompts);  // weights are read once
}

TEST_CASE("the engine's overhead is apart from the step") {
  const TemporaryFile model(tiny_model().dump());
  const config::PoolConfig pool = pool_of(
      model.path(), "1x1", {{"scheduler", {{"tokens", kTokens}, {"step_overhead", "2 ms"}}}});
  const StepCosts costs(pool, 1);
  const serving::StepTime time =
      costs.time(batch_of(pool, workloads::Decode{.context = 10, .batch = 2}));
  CHECK(time.overhead_s == 2e-3);
  CHECK(time.communication_s == 0.0);
  CHECK(time.total_s() == Approx(2e-3 + time.compute_s));
  CHECK(costs.simulated() == 0);
}

}  // namespace
}  // namespace equarx::serve::step_costs_test
