#include "experiments/capacity/machines.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/serving_json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::machines_test {
namespace {

TEST_CASE("chips have the most compact slice of each size, GPUs a switch of up to 8") {
  const auto tpus = machines_of("tpu-v5e", {1, 3, 4, 16});
  REQUIRE(tpus.size() == 3);
  CHECK(tpus[0].topology->dump() == R"({"slice":"1x1"})");
  CHECK(tpus[1].topology->dump() == R"({"slice":"2x2"})");
  CHECK(tpus[2].topology->dump() == R"({"slice":"4x4"})");
  const auto gpus = machines_of("h100", {1, 8, 16});
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[1].topology->dump() == R"({"switch":8})");
  CHECK(machines_of("mi300x", {4})[0].topology->dump() == R"({"fully-connected":4})");
}

TEST_CASE("an unknown chip is refused") {
  CHECK_THROWS_WITH(machines_of("tpu-v99", {1}), ContainsSubstring("--chips"));
}

TEST_CASE("a configuration is what serve reads") {
  const Request request = testing::small_request();
  const Machine machine = machines_of("tpu-v6e", {4})[0];
  const config::ServingConfig config = config::read_serving(
      configuration(request, machine, {"zeroquant", "int8-row", "int8"}, 2048, 32, 3.5));
  CHECK(config.pool.chips() == 4);
  CHECK(config.pool.scheduler.limits.tokens == 2048);
  CHECK(config.pool.scheduler.limits.sequences == 32);
  CHECK(config.load.rate == 3.5);
  CHECK(config.pool.workload.kv.has_value());
  CHECK(config.pool.workload.precision.name == "zeroquant");
}

}  // namespace
}  // namespace equarx::capacity::machines_test
