#include "experiments/config/serving_json.hpp"

#include <string>

#include "base/input/schema.hpp"
#include "experiments/config/workload_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/changed.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/served.hpp"

namespace equarx::config::serving_json_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::served_config;

/// Sets the value at a pointer, and checks that the configuration is refused.
void check_value(const std::string& pointer, const std::string& value, const std::string& place,
                 const std::string& remedy) {
  CAPTURE(pointer, value);
  check_refused([&] { read_serving(changed(served_config("llama3.1-8b", "2x4"), pointer, value)); },
                place, remedy);
}

/// Prefill on chips of its own.
input::Json disaggregated() {
  input::Json json = served_config("llama3.1-8b", "2x4");
  json["serving"]["kv"] = "int8-row";
  json["serving"]["prefill"] = {{"topology", {{"slice", "2x2"}}}, {"bandwidth", "10 GB/s"}};
  return json;
}

TEST_CASE("a served model is read with its defaults") {
  const ServingConfig config = read_serving(served_config("llama3.1-8b", "2x4"));
  CHECK(config.pool.tensor() == 8);
  CHECK(config.pool.replicas() == 1);
  CHECK(config.pool.chips() == 8);
  CHECK(config.pool.workload.model.layers == 32);
  CHECK(config.pool.scheduler.limits.sequences == 16);
  CHECK(config.pool.scheduler.limits.policy == serving::Policy::mixed);
  CHECK(config.pool.scheduler.block == 16);
  CHECK(config.pool.scheduler.memory == 0.9);
  CHECK(config.pool.scheduler.step_overhead_s == 0.0);
  CHECK_FALSE(config.prefill);
  CHECK(config.load.rate == 50.0);
}

TEST_CASE("a mesh divides chips into replicas") {
  input::Json json = served_config("llama3.1-8b", "2x4");
  json["mesh"] = {{"data", 2}, {"tensor", 4}};
  const ServingConfig config = read_serving(json);
  CHECK(config.pool.tensor() == 4);
  CHECK(config.pool.replicas() == 2);
  json["mesh"] = {{"data", 8}};
  CHECK(read_serving(json).pool.tensor() == 1);
  check_value("/mesh", R"({"fsdp": 8})", "/mesh", "\"data\" and \"tensor\", not 'fsdp'");
}

TEST_CASE("a prefill pool inherits the model, its formats and the scheduler") {
  const ServingConfig config = read_serving(disaggregated());
  REQUIRE(config.prefill);
  const PoolConfig& pool = config.prefill->pool;
  CHECK(pool.tensor() == 4);
  CHECK(pool.workload.model_name == "llama3.1-8b");
  CHECK(pool.workload.attention.fused);
  CHECK(workload_json(pool.workload)["kv"] == workload_json(config.pool.workload)["kv"]);
  CHECK(pool.scheduler.limits.tokens == 256);
  CHECK(config.prefill->bandwidth == 10e9);
  CHECK(config.prefill->latency_s == 0.0);
}

TEST_CASE("a prefill pool has the chip and the topology of decoding, unless it has its own") {
  input::Json json = disaggregated();
  CHECK(read_serving(json).prefill->pool.machine.chip.name == "tpu-v5e");
  json["serving"]["prefill"]["hardware"] = "tpu-v6e";
  CHECK(read_serving(json).prefill->pool.machine.chip.name == "tpu-v6e");
  json["serving"]["prefill"].erase("topology");
  const ServingConfig config = read_serving(json);
  CHECK(config.prefill->pool.machine.chip.name == "tpu-v6e");
  CHECK(config.prefill->pool.tensor() == 8);
}

TEST_CASE("a served model resolves to itself, and is valid by its schema") {
  input::Json meshed = served_config("llama3.1-8b", "2x4");
  meshed["mesh"] = {{"data", 2}, {"tensor", 4}};
  meshed["serving"]["quantize"] = {{{"algorithm", "two-shot"}, {"format", "int8"}}};
  for (const input::Json& json : {served_config("llama3.1-8b", "2x4"),
                                  served_config("llama3.1-8b", "1x1"), meshed, disaggregated()}) {
    const input::Json resolved = to_json(read_serving(json));
    CHECK(to_json(read_serving(resolved)) == resolved);
    CHECK_NOTHROW(input::check_schema(resolved, "serving"));
  }
}

TEST_CASE("the step of a pool decodes the same number of positions on the same mesh") {
  const ServingConfig config = read_serving(served_config("llama3.1-8b", "2x4"));
  const StepConfig step = step_of(config.pool, 48);
  REQUIRE(step.workload);
  CHECK(workloads::extent(step.workload->phase).rows() == 48);
  CHECK(step.workload->model.layers == 32);
}

TEST_CASE("chunks are at most the positions of a step") {
  const ServingConfig config =
      read_serving(changed(served_config("llama3.1-8b", "2x4"), "/serving/chunks", "4"));
  CHECK(step_of(config.pool, 48).workload->chunks == 4);
  CHECK(step_of(config.pool, 3).workload->chunks == 3);
  CHECK(to_json(config)["serving"]["chunks"] == 4);
}

TEST_CASE("keys of a phase are refused") {
  for (const char* const key : {"phase", "tokens", "context", "batch"})
    check_value(std::string("/serving/") + key, "1", std::string("/serving/") + key,
                "follows from the load");
}

TEST_CASE("a prefix cache finds tokens, and no share of all prompts") {
  input::Json json = served_config("llama3.1-8b", "2x4");
  json["serving"]["scheduler"]["prefix_cache"] = true;
  CHECK(read_serving(json).pool.scheduler.limits.keeps_blocks);
  CHECK(to_json(read_serving(json))["serving"]["scheduler"]["prefix_cache"] == true);
  json["serving"]["load"]["shared_prefix"] = 0.5;
  check_refused([&] { read_serving(json); }, "/serving/load/shared_prefix", "use \"prefixes\"");
}

TEST_CASE("unknown keys and values are refused with their place") {
  check_value("/serving/modle", "1", "/serving/modle", "model");
  check_value("/sevring", "1", "/sevring", "serving");
  check_value("/serving/model", "\"llama3.1-9b\"", "/serving/model", "llama3.1-8b");
  check_value("/serving/scheduler/policy", "\"fifo\"", "/serving/scheduler/policy", "mixed");
  check_value("/serving/scheduler/sequences", "0", "/serving/scheduler/sequences", "from 1");
  check_value("/serving/scheduler/step_overhead", "-1", "/serving/scheduler/step_overhead", "");
  check_value("/serving/quantize", R"([{"format": "int9"}])", "/serving/quantize/0/format", "int8");
  check_value("/serving/kv", "\"int9-row\"", "/serving/kv", "");
}

TEST_CASE("a prefill pool has a bandwidth, and the same model") {
  input::Json json = disaggregated();
  json["serving"]["prefill"].erase("bandwidth");
  check_refused([&] { read_serving(json); }, "/serving/prefill/bandwidth", "is missing");
  json["serving"]["prefill"] = 3;
  check_refused([&] { read_serving(json); }, "/serving/prefill", "expected an object");
  json = disaggregated();
  json["serving"]["prefill"]["model"] = "llama2-7b";
  check_refused([&] { read_serving(json); }, "/serving/prefill/model", "remove it");
  json = disaggregated();
  json["serving"]["prefill"]["load"] = 1;
  check_refused([&] { read_serving(json); }, "/serving/prefill/load", "");
}

}  // namespace
}  // namespace equarx::config::serving_json_test
