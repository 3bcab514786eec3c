#include "experiments/plan/workload.hpp"

#include <algorithm>
#include <map>

#include "experiments/input/json.hpp"
#include "models/workloads/operations.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::plan::workload_test {
namespace {

using testing::changed;
using testing::plan_of;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::workload_config;
using workloads::OperationKind;

WorkloadPlan workload_of(const input::Json& json) { return *plan_of(json).workload; }

double total_time_s(const sim::Schedule& schedule) {
  double time_s = 0.0;
  for (const double part_s : schedule.compute_s) time_s += part_s;
  return time_s;
}

const OperationTotal& find(const WorkloadPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.operations, name, &OperationTotal::name);
  REQUIRE(found != plan.operations.end());
  return *found;
}

input::Json tiny_config(const TemporaryFile& model) { return workload_config(model.path()); }

TEST_CASE("weights of fewer bits make decoding faster, and larger models fit") {
  input::Json decode = workload_config("gemma3-12b");
  decode["workload"] = {
      {"model", "gemma3-12b"}, {"phase", "decode"}, {"context", 500}, {"batch", 5}};
  const double plain_s = workload_of(decode).compute_s;
  for (const char* precision : {"zeroquant", "weight-only-int8"}) {
    CAPTURE(precision);
    CHECK(workload_of(changed(decode, "/workload/precision", precision)).compute_s <
          0.75 * plain_s);
  }
  decode["workload"]["model"] = "llama3-70b";
  decode["topology"]["slice"] = "4x2";
  testing::check_refused([&] { plan_of(decode); }, "/workload/model", "use more chips");
  CHECK_NOTHROW(plan_of(changed(decode, "/workload/precision", "weight-only-int8")));
}

TEST_CASE("compute time is the sum of the operations, in the whole plan and in parts") {
  const TemporaryFile model(tiny_model().dump());
  input::Json skipping = tiny_config(model);
  skipping["workload"]["attention"] = {{"skips_outside_window", true}};
  input::Json decode = tiny_config(model);
  decode["workload"] = {{"model", model.path()}, {"phase", "decode"}, {"context", 300}};
  for (const input::Json& json :
       {tiny_config(model), skipping, decode, changed(tiny_config(model), "/workload/chunks", "4"),
        workload_config("gemma3-12b"), workload_config("llama3-8b")}) {
    const WorkloadPlan plan = workload_of(json);
    double operations_s = 0.0;
    for (const OperationTotal& operation : plan.operations) operations_s += operation.time_s;
    CHECK(plan.compute_s == Approx(operations_s).epsilon(1e-12));
    CHECK(total_time_s(plan.schedule) == Approx(plan.compute_s).epsilon(1e-12));
    double parts_s = plan.outside_layers_s;
    for (const LayerKind& kind : plan.layers) parts_s += kind.count * total_time_s(kind.schedule);
    CHECK(parts_s == Approx(plan.compute_s).epsilon(1e-12));
  }
}

TEST_CASE("there are two AllReduces in each layer, for each chunk") {
  const TemporaryFile model(tiny_model().dump());
  for (const std::uint32_t chunks : {1U, 3U}) {
    input::Json json = tiny_config(model);
    json["workload"]["chunks"] = chunks;
    const WorkloadPlan plan = workload_of(json);
    CHECK(plan.allreduces == 2 * 7 * chunks);
    CHECK(plan.schedule.compute_s.size() == plan.allreduces + 1);
    CHECK(plan.schedule.overlap == (chunks == 1 ? 0 : chunks));
  }
  CHECK(workload_of(workload_config("gemma3-12b")).allreduces == 2 * 48);
}

TEST_CASE("every operation of every layer is counted with the work derived from the model") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = tiny_config(model);
  const config::ExperimentConfig config = config::read_config(json);
  const WorkloadPlan plan = workload_of(json);
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
  add(operations.local_layer, 5);  // of 7: two local, one global, two local, one global, one local
  add(operations.global_layer, 2);
  add(operations.head, 1);
  CHECK(plan.operations.size() == counts.size());
  for (const OperationTotal& operation : plan.operations) {
    CAPTURE(operation.name);
    CHECK(operation.count == counts[operation.name]);
    CHECK(operation.flops == Approx(flops[operation.name]));
    CHECK(operation.hbm_bytes == Approx(bytes[operation.name]));
  }
}

TEST_CASE("only layers of different times are kept apart") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = tiny_config(model);
  CHECK(workload_of(json).layers.size() == 1);
  CHECK(workload_of(json).layers[0].count == 7);
  json["workload"]["attention"] = {{"skips_outside_window", true}};
  const WorkloadPlan plan = workload_of(json);
  REQUIRE(plan.layers.size() == 2);
  CHECK(plan.layers[0].count == 5);
  CHECK(plan.layers[1].count == 2);
  CHECK(total_time_s(plan.layers[0].schedule) < total_time_s(plan.layers[1].schedule));
  const WorkloadPlan llama = workload_of(workload_config("llama3-8b"));  // no local layers
  REQUIRE(llama.layers.size() == 1);
  CHECK(llama.layers[0].count == 32);
}

TEST_CASE("chunks reread the weights and do the same arithmetic") {
  const TemporaryFile model(tiny_model().dump());
  const WorkloadPlan whole = workload_of(tiny_config(model));
  const WorkloadPlan parts = workload_of(changed(tiny_config(model), "/workload/chunks", "4"));
  const OperationTotal& once = find(whole, "ffn_in");
  const OperationTotal& again = find(parts, "ffn_in");
  CHECK(again.flops == Approx(once.flops));
  CHECK(again.time_s >= once.time_s);
  const double weights = 7.0 * 512 * 2 * (1024 / 4) * 2;  // layers, gate and up of a quarter, bf16
  CHECK(again.hbm_bytes - once.hbm_bytes == Approx(3.0 * weights));
}

TEST_CASE("efficiency affects the time of matmuls, not of element-wise work") {
  const TemporaryFile model(tiny_model().dump());
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["matrix_efficiency"]["value"] = 0.4;
  const TemporaryFile slow(chip.dump());
  input::Json json = workload_config("gemma3-12b", 4096);
  const WorkloadPlan usual = workload_of(json);
  json["hardware"] = slow.path();
  const WorkloadPlan slower = workload_of(json);
  CHECK(find(slower, "ffn_in").time_s > 2.0 * find(usual, "ffn_in").time_s);
  CHECK(find(slower, "softmax").time_s == find(usual, "softmax").time_s);
}

TEST_CASE("a residual in VMEM must fit there and takes less time") {
  input::Json json = workload_config("gemma3-27b", 8192);
  json["topology"] = {{"slice", "4x4"}};
  const double in_hbm_s = workload_of(json).compute_s;
  json["workload"]["residual"] = "vmem";
  CHECK(workload_of(json).compute_s < in_hbm_s);
  json["workload"]["tokens"] = 16384;
  testing::check_refused([&] { plan_of(json); }, "/workload/residual", "128.0 MiB of VMEM");
}

}  // namespace
}  // namespace equarx::plan::workload_test
