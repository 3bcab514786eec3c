#include "experiments/config/step_json.hpp"

#include <variant>

#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::config::step_json_test {
namespace {

using testing::changed;
using testing::good_step;
using testing::good_training;

TEST_CASE("a step is refused where collectives are needed") {
  testing::check_refused([] { read_config(good_step()); }, "/step", "with \"collectives\" alone");
}

input::Json prefill_on(const std::string& slice) {
  input::Json json = input::parse_json(R"({
    "hardware": "tpu-v6e", "engine": "direct",
    "workload": {"model": "gemma3-12b", "phase": "prefill", "tokens": 512},
    "collectives": [{"label": "bf16", "algorithm": "ring"},
                    {"label": "int8", "algorithm": "equarx", "format": "int8"}]})");
  json["topology"] = {{"slice", slice}};
  return json;
}

TEST_CASE("a workload is a step on all chips, with a variant for each collective") {
  const StepConfig step = read_step_config(prefill_on("4x4"));
  CHECK(step.mesh.length("tensor") == 16);
  REQUIRE(step.calls.size() == 1);
  CHECK(step.calls[0].call.elements == 512 * 3840);
  REQUIRE(step.variants.size() == 2);
  CHECK(step.variants[1].label == "int8");
  CHECK(step.variants[1].collectives.at(0).format.name == "int8");
  CHECK(step.values.at(0).has_value());
  CHECK(step.machine.engine == EngineMode::direct);
  CHECK_FALSE(
      read_step_config(changed(prefill_on("4x4"), "/numerics", "off")).values.at(0).has_value());
}

TEST_CASE("a workload on one chip has no collectives, but its variants") {
  const StepConfig step = read_step_config(prefill_on("1x1"));
  CHECK(step.calls.empty());
  CHECK(step.variants.size() == 2);
  CHECK(step.workload->model.name == "gemma3-12b");
}

TEST_CASE("the step form of a workload has the same graph, collectives and values") {
  for (const std::string slice : {"1x1", "2x2", "4x4"}) {
    const StepConfig config = read_step_config(prefill_on(slice));
    const input::Json json = to_json(step_form(config));
    input::check_schema(json, "step");
    const StepConfig read = read_step_config(json);
    CHECK_FALSE(read.compared.has_value());
    CHECK(read.graph.tasks.size() == config.graph.tasks.size());
    CHECK(read.calls == config.calls);
    for (std::size_t i = 0; i < config.variants.size(); ++i) {
      CHECK(read.variants[i].label == config.variants[i].label);
      for (std::size_t call = 0; call < config.calls.size(); ++call) {
        CHECK(read.variants[i].collectives[call].format.name ==
              config.variants[i].collectives[call].format.name);
        CHECK(read.values[call]->sample == config.values[call]->sample);
      }
    }
  }
  CHECK(to_json(step_form(read_step_config(good_step()))) ==
        to_json(read_step_config(good_step())));
  testing::check_refused(
      [] {
        step_form(read_step_config(changed(prefill_on("2x2"), "/tensor", R"({"dtype": "fp32"})")));
      },
      "/tensor/dtype", "bf16 only");
}

TEST_CASE("tasks become a graph") {
  const StepConfig config = read_step_config(good_step());
  CHECK(config.graph.streams == std::vector<std::string>{"core", "data", "to-host"});
  REQUIRE(config.graph.tasks.size() == 10);
  const steps::Task& bucket = config.graph.tasks[6];
  CHECK(bucket.name == "bucket 1");
  CHECK(bucket.group == "bucket");
  CHECK(bucket.after == std::vector<steps::TaskId>{2});
  const auto& call = std::get<steps::CollectiveCall>(bucket.work);
  CHECK(call.elements == (2U << 20));
  CHECK(call.axes == std::vector<std::size_t>{0});
  CHECK(config.calls.size() == 1);
  CHECK(std::get<steps::Computation>(config.graph.tasks[1].work).model_flops == 2e10);
}

TEST_CASE("a rule applies to matching collectives, and others are unquantized") {
  const StepConfig config = read_step_config(good_step());
  REQUIRE(config.variants.size() == 2);
  CHECK(config.variants[0].collectives[0].format.name == "bf16");
  CHECK(config.variants[1].collectives[0].format.name == "int8");
  CHECK(config.variants[1].collectives[0].algorithm->name == "torus");
  input::Json plain = good_step();
  plain.erase("variants");
  CHECK(read_step_config(plain).variants.front().label == "plain");
}

TEST_CASE("a resolved configuration survives a round trip and matches the schema") {
  for (const input::Json& json : {good_step(), good_training()}) {
    input::check_schema(json, "step");
    const input::Json whole = to_json(read_step_config(json));
    input::check_schema(whole, "step");
    CHECK(to_json(read_step_config(whole)) == whole);
  }
}

TEST_CASE("rematerialization policies by name and by activation") {
  const auto remat = [](const std::string& text) {
    return read_step_config(changed(good_training(), "/step/training/remat", text))
        .training->training.remat;
  };
  CHECK(remat("none") == steps::Remat{});
  CHECK(remat("full") == steps::kFullRemat);
  CHECK(remat("minimal") == steps::kMinimalRemat);
  steps::Remat offloads = steps::kFullRemat;
  offloads.qkv = steps::Keep::offload;
  CHECK(remat(R"({"qkv": "offload"})") == offloads);
}

TEST_CASE("invalid steps are refused with the pointer and the remedy") {
  struct Mistake {
    input::Json json;
    std::string place;
    std::string remedy;
  };
  const input::Json step = good_step();
  const input::Json training = good_training();
  const std::string task = "/step/tasks/";
  const std::vector<Mistake> mistakes = {
      {changed(step, "/mesh", R"({"data": 8})"), "/mesh",
       "mesh data=8 has 8 chips, but the machine has 16"},
      {changed(step, "/mesh", "{}"), "/mesh", "name at least one axis"},
      {changed(step, "/mesh", R"({"data": {"length": 8, "axes": [0]}, "fsdp": 2})"), "/mesh",
       "'data' has length 8, but the machine axes it is mapped to have 4"},
      {changed(step, "/step", "{}"), "/step", "give \"training\", \"workload\", or \"tasks\""},
      {changed(step, task + "0/compute", "{}"), task + "0/compute/flops", "has no work"},
      {changed(step, task + "2/collective/axes/0", "tensor"), task + "2/collective/axes/0",
       "the mesh has no axis 'tensor'"},
      {changed(step, task + "2/collective/bytes", "1 B"), task + "2/collective/bytes", "elements"},
      {changed(step, task + "2/collective/bytes", "3 B"), task + "2/collective/bytes",
       "not a whole number of elements of bf16"},
      {changed(step, task + "2/after/0", "backwards {i}"), task + "2/after", "did you mean"},
      {changed(step, task + "1/name", "backward"), task + "1/name", "backward {i}"},
      {changed(step, task + "0/after", R"(["bucket 0"])"), task + "0", "waits for itself"},
      {changed(step, task + "3/name", "forward"), task + "3", "duplicate task name 'forward'"},
      {changed(step, task + "3/host/bytes", "0 B"), task + "3/host/bytes", "above 0 B"},
      {changed(step, task + "0/stream", "3"), task + "0/stream", "expected a string"},
      {changed(step, "/variants/1/quantize/0/where/axis", "fsdp"), "/variants/1/quantize/0",
       "matches none of the step's collectives: bucket (all-reduce over data)"},
      {changed(step, "/variants/1/quantize/0/where/axis", "dta"),
       "/variants/1/quantize/0/where/axis", "did you mean 'data'?"},
      {changed(step, "/variants/1/quantize/0/format", "int9"), "/variants/1/quantize/0/format",
       "int8"},
      {changed(step, "/variants/1/label", "bf16"), "/variants/1/label", "give each its own"},
      {changed(step, "/variants", "[]"), "/variants", "name at least one"},
      {changed(step, "/baseline", "int4"), "/baseline", "did you mean"},
      {changed(step, "/tensor", "1"), "/tensor", ""},
      {changed(training, "/step/training/batch", "9"), "/step/training", "use a multiple of 8"},
      {changed(training, "/step/training/sequence", "100000"), "/step/training/sequence", "8192"},
      {changed(training, "/step/training/model", "llama9"), "/step/training/model", "llama3-8b"},
      {changed(training, "/step/training/attention", R"({"block": 100})"),
       "/step/training/attention/block", "use a divisor"},
      {changed(training, "/step/training/remat", R"({"layer_input": "recompute"})"),
       "/step/training/remat/layer_input", "keep or offload it"},
      {changed(training, "/mesh", R"({"data": 2, "expert": 2, "fsdp": 4})"), "/step/training",
       "llama3-8b has none"},
      {changed(training, "/step/training/prediction_depth", "1"), "/step/training",
       "use at most 0, or a model with more"},
      {changed(training, "/mesh", R"({"data": 2, "row": 2, "fsdp": 4})"), "/step/training",
       "not 'row'"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.place, mistake.remedy);
    testing::check_refused([&] { read_step_config(mistake.json); }, mistake.place, mistake.remedy);
  }
}

TEST_CASE("a task may have several operations, inline or by a shared name") {
  input::Json step = good_step();
  step["step"]["computations"] = input::Json::parse(
      R"({"layer": [{"flops": 1e10, "hbm_bytes": "1 MiB"}, {"vector_ops": 1e6, "times": 3}],
          "one": {"time": "1 us"}})");
  step["step"]["tasks"][0]["compute"] = "layer";
  step["step"]["tasks"][1]["compute"] =
      input::Json::parse(R"([{"flops": 2e10}, {"time": "2 us"}])");
  input::check_schema(step, "step");
  const StepConfig config = read_step_config(step);
  const auto& layer = std::get<steps::Computation>(config.graph.tasks[0].work);
  REQUIRE(layer.operations.size() == 2);
  CHECK(layer.operations[1].times == 3);
  CHECK(layer.model_flops == 1e10);
  const auto& backward = std::get<steps::Computation>(config.graph.tasks[1].work);
  CHECK(backward.operations.size() == 1);
  CHECK(backward.seconds == 2e-6);
  const input::Json whole = to_json(config);
  CHECK(whole["step"]["computations"].size() == 2);
  input::check_schema(whole, "step");
  CHECK(to_json(read_step_config(whole)) == whole);

  const auto refused = [&](const std::string& place, const char* value, const std::string& at,
                           const char* remedy) {
    testing::check_refused([&] { read_step_config(changed(step, place, value)); }, at, remedy);
  };
  refused("/step/tasks/0/compute", "layers", "/step/tasks/0/compute", "did you mean 'layer'?");
  refused("/step/tasks/0/compute", "[]", "/step/tasks/0/compute", "give at least one operation");
  refused("/step/computations/layer", "{}", "/step/computations/layer/flops", "has no work");
  refused("/step/computations", "[]", "/step/computations", "expected an object");
  refused("/step/computations/layer", R"([{"flops": 1, "times": 0}])",
          "/step/computations/layer/0/times", "1");
  refused("/step/computations/a~1b", "[]", "/step/computations/a~1b",
          "give at least one operation");
}

TEST_CASE("a duplicate dependency counts once") {
  // Otherwise the second wait would never end.
  const StepConfig config = read_step_config(
      changed(good_step(), "/step/tasks/3/after", R"(["forward", "backward 1", "forward"])"));
  const std::vector<steps::TaskId>& after = config.graph.tasks.back().after;
  REQUIRE(after.size() == 2);
  CHECK(config.graph.tasks[after[0]].name == "forward");
  CHECK(config.graph.tasks[after[1]].name == "backward 1");
}

TEST_CASE("summed times survive a round trip, bit for bit") {
  input::Json json = testing::good_step();
  const auto seconds = [](const StepConfig& config) {
    return std::get<steps::Computation>(config.graph.tasks.front().work).seconds;
  };
  for (const auto& times : {std::vector<std::string>{"62.2722 us", "0.112338 us"},
                            {"0.1 s", "0.2 s"},
                            {"1.1 us", "2.2 us", "3.3 ns", "0.7 ms"}}) {
    input::Json list = input::Json::array();
    for (const std::string& time : times) list.push_back({{"time", time}});
    json["step"]["tasks"][0]["compute"] = list;
    const StepConfig config = read_step_config(json);
    CAPTURE(list.dump(), seconds(config));
    CHECK(seconds(read_step_config(to_json(config))) == seconds(config));
  }
}

TEST_CASE("a serving phase is divided over the tensor axis and survives a round trip") {
  const StepConfig config = read_step_config(testing::good_serving());
  REQUIRE(config.workload.has_value());
  CHECK(config.calls.size() == 1);
  CHECK(config.calls.front().call.elements == 8 * 3840);
  CHECK(read_step_config(to_json(config)).graph.tasks.size() == config.graph.tasks.size());
  CHECK(to_json(read_step_config(to_json(config))) == to_json(config));

  input::Json axis = testing::good_serving();
  axis["mesh"] = {{"fsdp", 4}, {"tensor", 4}};
  testing::check_refused([&] { read_step_config(axis); }, "/mesh", "not 'fsdp'");
  input::Json heads = testing::good_serving();
  heads["topology"]["torus"] = "3x3";
  heads["mesh"] = {{"data", 3}, {"tensor", 3}};
  testing::check_refused([&] { read_step_config(heads); }, "/step/workload/model", "16 heads");
  input::Json two = testing::good_serving();
  two["step"]["tasks"] = input::Json::array();
  testing::check_refused([&] { read_step_config(two); }, "/step", "workload");
}

/// Decoding of Mixtral with experts on all chips of a node.
input::Json decoding_with_experts() {
  return input::parse_json(R"({
    "hardware": "h100", "topology": {"switch": 8}, "mesh": {"expert": 8},
    "step": {"workload": {"model": "mixtral-8x7b", "phase": "decode", "context": 100, "batch": 64}},
    "variants": [{"label": "fp8", "quantize": [
      {"where": {"collective": "all-to-all", "group": "dispatch"}, "format": "fp8-e4m3"}]}]
  })");
}

TEST_CASE("experts are divided over their axis, and their all-to-alls quantized by group") {
  const StepConfig config = read_step_config(decoding_with_experts());
  REQUIRE(config.calls.size() == 2);
  CHECK(config.calls[0].group == "dispatch");
  CHECK(config.calls[0].call.elements == 64 * 2 * 4096);
  CHECK(config.variants[0].collectives[0].format.name == "fp8-e4m3");
  CHECK(config.variants[0].collectives[1].format.name == "bf16");
  CHECK(to_json(read_step_config(to_json(config))) == to_json(config));
}

TEST_CASE("experts that cannot be divided, or limited, are refused with a remedy") {
  const auto check = [](const std::string& pointer, const std::string& value,
                        const std::string& place, const std::string& remedy) {
    const input::Json json = changed(decoding_with_experts(), pointer, value);
    CAPTURE(pointer, value);
    testing::check_refused([&] { read_step_config(json); }, place, remedy);
  };
  const std::string workload = "/step/workload/";
  check("/step/workload/model", "gemma3-27b", "/mesh", "gemma3-27b has none");
  check(workload + "expert_imbalance", "0.5", workload + "expert_imbalance", "at least 1");
  check(workload + "capacity_factor", "0.01", workload + "capacity_factor", "use at least 0.0625");
  check(workload + "dispatch", "einsum", workload + "dispatch", "add a \"capacity_factor\"");
  input::Json both = changed(decoding_with_experts(), workload + "capacity_factor", "1");
  both["step"]["workload"]["expert_imbalance"] = 2;
  testing::check_refused([&] { read_step_config(both); }, workload + "expert_imbalance",
                         "remove one of them");
  input::Json dense = decoding_with_experts();
  dense["mesh"] = {{"tensor", 8}};
  dense["step"]["workload"]["model"] = "gemma3-27b";
  dense["step"]["workload"]["capacity_factor"] = 1;
  testing::check_refused([&] { read_step_config(dense); }, workload + "capacity_factor",
                         "27b has no experts");
}

}  // namespace
}  // namespace equarx::config::step_json_test
