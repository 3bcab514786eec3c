#include "experiments/step/operations.hpp"

#include <algorithm>
#include <map>

#include "experiments/config/step_json.hpp"
#include "models/workloads/operations.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::step::operations_test {
namespace {

using testing::changed;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::workload_config;
using workloads::OperationKind;

std::vector<OperationTotal> operations_of(const input::Json& json) {
  return total_operations(config::read_step_config(json));
}

double compute_s(const input::Json& json) {
  double seconds = 0.0;
  for (const OperationTotal& operation : operations_of(json)) seconds += operation.time_s;
  return seconds;
}

OperationTotal find(const std::vector<OperationTotal>& operations, const std::string& name) {
  const auto found = std::ranges::find(operations, name, &OperationTotal::name);
  REQUIRE(found != operations.end());
  return *found;
}

TEST_CASE("weights of fewer bits make decoding faster, and larger models fit") {
  input::Json decode = workload_config("gemma3-12b");
  decode["workload"] = {
      {"model", "gemma3-12b"}, {"phase", "decode"}, {"context", 500}, {"batch", 5}};
  const double plain_s = compute_s(decode);
  for (const char* precision : {"zeroquant", "weight-only-int8"}) {
    CAPTURE(precision);
    CHECK(compute_s(changed(decode, "/workload/precision", precision)) < 0.75 * plain_s);
  }
  decode["workload"]["model"] = "llama3-70b";
  decode["topology"]["slice"] = "4x2";
  decode["memory"] = "refuse";
  testing::check_refused([&] { testing::step_plan_of(decode); }, "/workload/model",
                         "use more chips");
  CHECK_NOTHROW(testing::step_plan_of(changed(decode, "/workload/precision", "weight-only-int8")));
}

TEST_CASE("every operation of every layer is counted with the work derived from the model") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path());
  const config::StepConfig config = config::read_step_config(json);
  const workloads::PhaseOperations operations = workloads::phase_operations(
      config.workload->model, config.workload->phase, 4, config.workload->attention);
  std::map<std::string, double> flops;
  std::map<std::string, double> bytes;
  std::map<std::string, std::uint32_t> counts;
  const auto add = [&](const std::vector<workloads::Operation>& part, std::uint32_t times) {
    for (const workloads::Operation& operation : part) {
      if (operation.kind == OperationKind::allreduce) continue;
      const std::string name(operation.name);
      flops[name] += times * operation.flops;
      bytes[name] += times * operation.hbm_bytes();
      counts[name] += times;
    }
  };
  add(operations.embedding, 1);
  // Seven layers: two local, one global, two local, one global, one local.
  add(operations.layer({.local = true}), 5);
  add(operations.layer({}), 2);
  add(operations.head, 1);
  const std::vector<OperationTotal> totals = operations_of(json);
  CHECK(totals.size() == counts.size());
  for (const OperationTotal& operation : totals) {
    CAPTURE(operation.name);
    CHECK(operation.count == counts[operation.name]);
    CHECK(operation.flops == Approx(flops[operation.name]));
    CHECK(operation.hbm_bytes == Approx(bytes[operation.name]));
  }
}

TEST_CASE("chunks reread the weights and do the same arithmetic") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path());
  const OperationTotal once = find(operations_of(json), "ffn_in");
  const OperationTotal again =
      find(operations_of(changed(json, "/workload/chunks", "4")), "ffn_in");
  CHECK(again.count == 4 * once.count);
  CHECK(again.flops == Approx(once.flops));
  CHECK(again.time_s >= once.time_s);
  const double weights = 7.0 * 512 * 2 * (1024 / 4) * 2;  // layers, gate and up of a quarter, bf16
  CHECK(again.hbm_bytes - once.hbm_bytes == Approx(3.0 * weights));
}

TEST_CASE("efficiency affects the time of GEMMs, not of element-wise work") {
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["matrix_efficiency"]["value"] = 0.4;
  const TemporaryFile slow(chip.dump());
  input::Json json = workload_config("gemma3-12b", 4096);
  const std::vector<OperationTotal> usual = operations_of(json);
  json["hardware"] = slow.path();
  const std::vector<OperationTotal> slower = operations_of(json);
  CHECK(find(slower, "ffn_in").time_s > 2.0 * find(usual, "ffn_in").time_s);
  CHECK(find(slower, "softmax").time_s == find(usual, "softmax").time_s);
}

TEST_CASE("a residual in VMEM must fit there and takes less time") {
  input::Json json = workload_config("gemma3-27b", 8192);
  json["topology"] = {{"slice", "4x4"}};
  const double in_hbm_s = compute_s(json);
  json["workload"]["residual"] = "vmem";
  CHECK(compute_s(json) < in_hbm_s);
  json["workload"]["tokens"] = 16384;
  testing::check_refused([&] { testing::step_plan_of(json); }, "/workload/residual",
                         "128.0 MiB of VMEM");
}

TEST_CASE("steps without a model have no named operations") {
  CHECK(operations_of(testing::good_step()).empty());
  CHECK_FALSE(operations_of(testing::good_training()).empty());
}

}  // namespace
}  // namespace equarx::step::operations_test
