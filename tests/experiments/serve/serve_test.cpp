#include "experiments/serve/serve.hpp"

#include <string>

#include "models/serving/kv_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::serve_test {
namespace {

using serving::State;
using testing::check_refused;
using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;

ServeResult served(const input::Json& json, const ServeOptions& options = {}) {
  return serve(config::read_serving(json), options);
}

/// A model in a file, and configurations that serve it.
struct Tiny {
  TemporaryFile file{tiny_model().dump()};

  input::Json config(const std::string& slice = "1x1") const {
    return served_config(file.path(), slice);
  }
};

double share(const ServeResult& result, State state) {
  return result.summary.spent[static_cast<std::size_t>(state)];
}

TEST_CASE("a single request takes the times of its steps, one after the other") {
  const Tiny tiny;
  input::Json json = tiny.config();
  json["serving"]["load"] = {
      {"requests_per_s", 1}, {"requests", 1}, {"prompt", 100}, {"output", 3}};
  const config::ServingConfig config = config::read_serving(json);
  const ServeResult result = serve(config, {});
  const StepCosts costs(config.pool, 1);
  const auto step_s = [&](double queries, double keys) {
    workloads::Batch batch;
    batch.add(config.pool.workload.model, {queries, keys, 1.0}, config.pool.workload.attention,
              true);
    return costs.time(batch).total_s();
  };
  const serving::Record& record = result.outcome.records.front();
  CHECK(record.ttft_s() == Approx(step_s(100, 100)));
  CHECK(record.latency_s() == Approx(step_s(100, 100) + step_s(1, 101) + step_s(1, 102)));
  CHECK(result.chips == 1);
  CHECK(result.simulated_steps == 0);
}

TEST_CASE("a result counts all requests and tokens") {
  const Tiny tiny;
  const ServeResult result = served(tiny.config("2x2"));
  CHECK(result.outcome.records.size() == 40);
  CHECK(result.outcome.totals.prompt_tokens == 40.0 * 100.0);
  CHECK(result.outcome.totals.decode_tokens == 40.0 * 19.0);  // the first comes from the prompt
  CHECK(result.offered_per_s == 50.0);
  CHECK_FALSE(result.is_overloaded());
  CHECK(result.chips == 4);
  CHECK(result.simulated_steps > 8);
  CHECK(result.outcome.steps.empty());
  CHECK(served(tiny.config("2x2"), {.steps = true}).outcome.steps.size() ==
        result.outcome.totals.steps);
}

TEST_CASE("a load above the capacity is reported, with the capacity") {
  const Tiny tiny;
  input::Json json = tiny.config();
  json["serving"]["load"] = {
      {"requests_per_s", 1e6}, {"requests", 200}, {"prompt", 100}, {"output", 20}};
  const ServeResult result = served(json);
  REQUIRE(result.capacity_per_s);
  CHECK(result.is_overloaded());
  CHECK(*result.capacity_per_s == Approx(result.summary.requests_per_s).epsilon(0.05));
  json["serving"]["load"].erase("requests_per_s");
  json["serving"]["load"]["concurrency"] = 200;
  const ServeResult at_once = served(json);
  CHECK(at_once.offered_per_s == 0.0);
  CHECK_FALSE(at_once.capacity_per_s);
  CHECK(at_once.summary.requests_per_s == Approx(*result.capacity_per_s).epsilon(1e-9));
}

TEST_CASE("memory is divided among weights, activations and the KV cache") {
  const Tiny tiny;
  const config::ServingConfig config = config::read_serving(tiny.config("2x2"));
  const PoolMemory memory = pool_memory(config.pool, 100, "/serving");
  const double usable = 0.9 * config.pool.machine.chip.hbm_capacity.value;
  CHECK(memory.weights + memory.activations + memory.cache == Approx(usable));
  CHECK(memory.weights > 0.0);
  CHECK(memory.activations > 0.0);
  // 7 layers, a key and a value of one of four heads, 64 numbers of 2 bytes.
  CHECK(memory.positions == Approx(memory.cache / (7 * 2 * 64 * 2)));
}

TEST_CASE("an int8 KV cache holds almost twice as many tokens") {
  const Tiny tiny;
  input::Json json = tiny.config();
  const PoolMemory plain = served(json).memory;
  json["serving"]["kv"] = "int8-row";
  const PoolMemory few = served(json).memory;
  CHECK(few.weights == plain.weights);
  CHECK(few.positions > 1.8 * plain.positions);
  CHECK(few.positions < 2.0 * plain.positions);
}

TEST_CASE("a model that leaves no room for a KV cache is refused") {
  const Tiny tiny;
  input::Json json = tiny.config();
  json["serving"]["scheduler"]["memory"] = 1e-4;
  check_refused([&] { served(json); }, "/serving/model", "use more chips");
}

TEST_CASE("a request that never fits is refused with its size") {
  const Tiny tiny;
  input::Json json = tiny.config();
  const config::ServingConfig config = config::read_serving(json);
  const PoolMemory memory = pool_memory(config.pool, 100, "/serving");
  // Leaves 0.2 MiB: 29 tokens of 7 KiB, in blocks of 16.
  const double capacity = config.pool.machine.chip.hbm_capacity.value;
  json["serving"]["scheduler"]["memory"] =
      (memory.weights + memory.activations + (1 << 20) * 0.2) / capacity;
  check_refused([&] { served(json); }, "/serving/load", "never fits");
  json["serving"]["load"]["prompt"] = 8;
  json["serving"]["load"]["output"] = 8;
  CHECK_NOTHROW(served(json));
}

TEST_CASE("a request beyond the context of the model is refused") {
  const Tiny tiny;
  input::Json json = tiny.config();
  CHECK_NOTHROW(check(config::read_serving(json)));
  json["serving"]["load"]["prompt"] = 4090;
  check_refused([&] { check(config::read_serving(json)); }, "/serving/load", "takes up to 4096");
  check_refused([&] { served(json); }, "/serving/load", "4090 + 20 tokens; tiny takes up to 4096");
}

TEST_CASE("prefill on chips of its own adds transfers, and takes prompts off decoding") {
  const Tiny tiny;
  input::Json json = tiny.config();
  json["serving"]["prefill"] = {{"bandwidth", "1 GB/s"}, {"latency", "1 ms"}};
  const ServeResult apart = served(json);
  REQUIRE(apart.prefill_memory);
  REQUIRE(apart.outcome.prefill_totals);
  CHECK(apart.chips == 2);
  CHECK(apart.outcome.totals.prompt_tokens == 0.0);
  CHECK(apart.outcome.prefill_totals->prompt_tokens == 40.0 * 100.0);
  CHECK(share(apart, State::transfers) > 0.0);
  const config::ServingConfig config = config::read_serving(json);
  const serving::KvCache cache(config.pool.workload.model, config.pool.workload.attention, 1, 16,
                               0.0);
  const double transfer_s = 1e-3 + cache.bytes(100) / 1e9;
  for (const serving::Record& record : apart.outcome.records)
    CHECK(record.spent_s[static_cast<std::size_t>(State::transfers)] >=
          Approx(transfer_s).epsilon(1e-9));
}

TEST_CASE("the overhead of steps delays tokens, not operations") {
  const Tiny tiny;
  input::Json json = tiny.config();
  const ServeResult without = served(json);
  json["serving"]["scheduler"]["step_overhead"] = "5 ms";
  const ServeResult with = served(json);
  CHECK(with.summary.itl.p50 >= without.summary.itl.p50 + 0.0049);
  CHECK(with.outcome.totals.busy.overhead_s ==
        Approx(0.005 * static_cast<double>(with.outcome.totals.steps)));
}

TEST_CASE("a prefix cache saves prefills, and needs layers that keep all keys") {
  const Tiny tiny;
  input::Json json = tiny.config();
  json["serving"]["load"]["prefixes"] = {{"count", 2}, {"tokens", 80}};
  const ServeResult without = served(json);
  json["serving"]["scheduler"]["prefix_cache"] = true;
  const ServeResult with = served(json);
  CHECK(without.summary.hit_rate == 0.0);
  CHECK(with.summary.hit_rate == Approx(38 * 80.0 / (40 * 100.0)));
  CHECK(with.summary.ttft.mean < without.summary.ttft.mean);
  json["serving"]["attention"]["skips_outside_window"] = true;
  check_refused([&] { check(config::read_serving(json)); }, "/serving/scheduler/prefix_cache",
                "keep their window");
}

TEST_CASE("threads and recorded steps do not change times") {
  const Tiny tiny;
  const ServeResult one = served(tiny.config("2x2"));
  const ServeResult two = served(tiny.config("2x2"), {.threads = 2, .steps = true});
  CHECK(one.outcome.end_s == two.outcome.end_s);
  CHECK(one.outcome.gaps_s == two.outcome.gaps_s);
}

}  // namespace
}  // namespace equarx::serve::serve_test
