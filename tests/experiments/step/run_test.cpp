#include "experiments/step/run.hpp"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/timing.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::run_test {
namespace {

using testing::changed;
using testing::good_serving;
using testing::good_step;
using testing::good_training;

StepResult run(const input::Json& json) {
  return run_step(make_plan(config::read_step_config(json)), [](const std::string&) {});
}

const GroupResult& group(const VariantResult& variant, const std::string& name) {
  return *std::ranges::find(variant.groups, name, &GroupResult::name);
}

/// Two collectives of 4 MiB on the named axes, independent or dependent.
input::Json two_collectives(const std::string& first, const std::string& second,
                            const std::string& after) {
  input::Json json = good_step();
  json.erase("variants");
  json["step"]["tasks"] = input::Json::array();
  for (const auto& [name, axis] : {std::pair{"one", first}, std::pair{"two", second}})
    json["step"]["tasks"].push_back(
        {{"name", name},
         {"collective", {{"kind", "all-reduce"}, {"axes", {axis}}, {"bytes", "4 MiB"}}}});
  json["step"]["tasks"][1]["stream"] = "another";
  if (!after.empty()) json["step"]["tasks"][1]["after"] = {after};
  return json;
}

TEST_CASE("collectives overlap on different axes and are serialized on one") {
  const VariantResult apart = run(two_collectives("data", "fsdp", "")).runs.front();
  const double isolated_s = group(apart, "one").isolated_s;
  // They contend for the core.
  CHECK(apart.time_s < 1.3 * isolated_s);
  CHECK(apart.time_s >= isolated_s);
  const VariantResult same = run(two_collectives("data", "data", "")).runs.front();
  CHECK(same.time_s > 1.8 * isolated_s);
  const VariantResult chain = run(two_collectives("data", "fsdp", "one")).runs.front();
  CHECK(chain.time_s == Approx(2.0 * isolated_s).epsilon(1e-6));
  CHECK(chain.critical_path.size() == 2);
}

TEST_CASE("representative chips take as long as all chips") {
  for (const input::Json& json :
       {good_step(), good_training(), two_collectives("data", "fsdp", "")}) {
    const StepResult few = run(json);
    const StepResult all = run(changed(json, "/simulation", "full"));
    for (std::size_t i = 0; i < few.runs.size(); ++i) {
      CHECK(few.runs[i].symmetric);
      CHECK_FALSE(all.runs[i].symmetric);
      CHECK(all.runs[i].simulated_chips == 16);
      CHECK(few.runs[i].time_s == Approx(all.runs[i].time_s).epsilon(1e-6));
    }
  }
}

TEST_CASE("variants simulated side by side are those simulated in turn") {
  input::Json json = good_step();
  json["variants"] = input::Json::array();
  for (const std::string format : {"bf16", "int8", "int4", "fp8-e4m3", "mxfp8-e4m3"})
    json["variants"].push_back({{"label", format}, {"quantize", {{{"format", format}}}}});
  const StepPlan plan = make_plan(config::read_step_config(json));
  const std::thread::id caller = std::this_thread::get_id();
  const auto times = [&](unsigned threads) {
    std::vector<double> found;
    const StepResult result =
        run_step(plan, [&](const std::string&) { REQUIRE(std::this_thread::get_id() == caller); },
                 {.threads = threads});
    for (const VariantResult& variant : result.runs) found.push_back(variant.time_s);
    return found;
  };
  const std::vector<double> in_turn = times(1);
  CHECK(std::set<double>(in_turn.begin(), in_turn.end()).size() >= 4);
  CHECK(times(3) == in_turn);
}

TEST_CASE("a serving step takes as long as the same workload") {
  const std::vector<std::string> phases = {
      R"({"model": "gemma3-12b", "phase": "prefill", "tokens": 512})",
      R"({"model": "gemma3-12b", "phase": "prefill", "tokens": 512, "chunks": 2})",
      R"({"model": "gemma3-12b", "phase": "decode", "context": 1024, "batch": 8})",
      R"({"model": "gemma3-12b", "phase": "decode", "context": 1024, "batch": 8, "chunks": 4})"};
  for (const std::string& phase : phases)
    for (const std::string collective :
         {R"({"algorithm": "ring", "format": "bf16"})",
          R"({"algorithm": "equarx", "format": "int8", "elements_per_scale": 64})"}) {
      CAPTURE(phase, collective);
      const input::Json common = input::Json::parse(
          R"({"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "engine": "direct"})");
      input::Json alone = common;
      alone["workload"] = input::Json::parse(phase);
      const input::Json one = input::Json::array({input::Json::parse(collective)});
      alone["collectives"] = one;
      alone["numerics"] = "off";
      input::Json step = common;
      step["mesh"]["tensor"] = 8;
      step["step"]["workload"] = input::Json::parse(phase);
      step["variants"] = input::Json::array({{{"label", "x"}, {"quantize", one}}});
      CHECK(run(step).runs.front().time_s == run(alone).runs.front().time_s);
    }
}

TEST_CASE("tasks in sequence take the same time in samples as in a whole simulation") {
  for (const std::string chunks : {"1", "2"}) {
    input::Json json = input::Json::parse(R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
      "workload": {"model": "gemma3-12b", "phase": "prefill", "tokens": 512}, "numerics": "off",
      "collectives": [{"algorithm": "ring"}, {"algorithm": "equarx", "format": "int8"}]})");
    json["workload"]["chunks"] = std::stoi(chunks);
    const StepPlan plan = make_plan(config::read_step_config(json));
    const variation::Varied varied = varied_variants(plan, find_cuts(plan, 1), 1);
    const auto sampled = varied.time_on(varied.machine);
    const StepResult whole = run_step(plan, [](const std::string&) {});
    for (std::size_t i = 0; i < whole.runs.size(); ++i)
      CHECK(sampled[i].time_s == Approx(whole.runs[i].time_s).epsilon(1e-11));
  }
}

/// An AllReduce of 4 MiB in two variants, as a step and as an experiment.
std::pair<input::Json, input::Json> step_and_experiment(const std::string& topology) {
  const input::Json variants = input::parse_json(R"([
    {"label": "bf16", "algorithm": "two-shot", "format": "bf16"},
    {"label": "int8", "algorithm": "two-shot", "format": "int8", "elements_per_scale": 64}])");
  input::Json step = input::parse_json(R"({
    "hardware": "tpu-v5e", "engine": "direct", "mesh": {"data": 8},
    "uncertainty": {"samples": 20},
    "step": {"tasks": [
      {"name": "sum", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 MiB"}}]},
    "variants": []})");
  step["topology"] = input::parse_json(topology);
  if (step["topology"].contains("network"))
    step["mesh"] = {{"data", {{"length", 8}, {"axes", {0, 1}}}}};
  input::Json experiment = input::parse_json(R"({
    "hardware": "tpu-v5e", "engine": "direct", "tensor": {"bytes": "4 MiB"},
    "timed_as": "step", "numerics": "off",
    "uncertainty": {"samples": 20}})");
  experiment["topology"] = step["topology"];
  experiment["collectives"] = variants;
  for (input::Json rule : variants) {
    const std::string label = rule["label"];
    rule.erase("label");
    step["variants"].push_back({{"label", label}, {"quantize", input::Json::array({rule})}});
  }
  return {step, experiment};
}

TEST_CASE("a step has the intervals and sensitivities of the same experiment") {
  for (
      const std::string topology :
      {R"({"fully-connected": 8})",
       R"({"ring": 4, "network": {"slices": 2, "latency": "10 us", "bandwidth": {"value": "10 GB/s",
            "range": ["8 GB/s", "12 GB/s"], "class": "assumed", "source": "a test"}}})"}) {
    CAPTURE(topology);
    const auto [step, experiment] = step_and_experiment(topology);
    const auto silent = [](const std::string&) {};
    const StepResult of_step =
        run_step(make_plan(config::read_step_config(step)), silent, {.sensitivity = true});
    const run::ExperimentResult of_experiment = run::run_experiment(
        plan::make_plan(config::read_config(experiment)), silent, {.sensitivity = true});
    REQUIRE(of_step.runs.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(of_step.runs[i].time_s == Approx(of_experiment.runs[i].time_s).epsilon(1e-12));
      const variation::Uncertainty& one = of_step.runs[i].uncertainty.value();
      const variation::Uncertainty& other = of_experiment.runs[i].uncertainty.value();
      CHECK(one.samples == 20);
      CHECK(one.time_s.low == Approx(other.time_s.low).epsilon(1e-12));
      CHECK(one.time_s.high == Approx(other.time_s.high).epsilon(1e-12));
      CHECK(one.speedup.low == Approx(other.speedup.low).epsilon(1e-12));
    }
    REQUIRE(of_step.sensitivities.size() == of_experiment.sensitivities.size());
    for (const variation::Sensitivity& one : of_step.sensitivities) {
      CAPTURE(one.parameter);
      const auto other = std::ranges::find(of_experiment.sensitivities, one.parameter,
                                           &variation::Sensitivity::parameter);
      REQUIRE(other != of_experiment.sensitivities.end());
      CHECK(one.runs[1].time == Approx(other->runs[1].time).margin(1e-9));
    }
    if (topology.find("network") != std::string::npos)
      CHECK(of_step.sensitivities.front().parameter == "network_bandwidth");
  }
}

TEST_CASE("every kind of step has the same times on its own parameters") {
  input::Json permutes = good_step();
  permutes["step"]["tasks"].push_back(
      input::parse_json(R"({"name": "shift", "permute": {"pairs": [[0, 1]], "bytes": "1 MiB"}})"));
  for (const input::Json& json : {good_step(), good_training(), good_serving(), permutes}) {
    const StepPlan plan = make_plan(config::read_step_config(json));
    const variation::Varied varied = varied_variants(plan, find_cuts(plan, 1), 1);
    const std::vector<variation::Timing> timings = varied.time_on(varied.machine);
    const StepResult result = run_step(plan, [](const std::string&) {});
    REQUIRE(timings.size() == result.runs.size());
    for (std::size_t i = 0; i < timings.size(); ++i) {
      CHECK(timings[i].time_s == Approx(result.runs[i].time_s).epsilon(1e-12));
      CHECK(timings[i].speedup == result.runs[i].speedup);
    }
  }
}

TEST_CASE("a step whose compute depends on one uncertain parameter has its interval") {
  input::Json json = good_step();
  json.erase("variants");
  json["step"]["tasks"] = input::parse_json(R"([{"name": "product", "compute": {"flops": 2e12}}])");
  config::StepConfig config = config::read_step_config(json);
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    (config.machine.chip.*info.member).range = std::nullopt;
    (config.machine.chip.*info.member).standard_error = std::nullopt;
  }
  config.machine.chip.calibration = std::nullopt;
  config.machine.chip.matrix_efficiency.value = 0.5;
  config.machine.chip.matrix_efficiency.range = hardware::ParameterRange{0.4, 0.6};
  config.machine.uncertainty.samples = 200;
  const VariantResult variant = run_step(make_plan(config), [](const std::string&) {}).runs.front();
  REQUIRE(variant.uncertainty);
  CHECK(variant.uncertainty->time_s.low ==
        Approx(variant.time_s * 0.5 / (0.4 + 0.841 * 0.2)).epsilon(0.02));
  CHECK(variant.uncertainty->time_s.high ==
        Approx(variant.time_s * 0.5 / (0.4 + 0.159 * 0.2)).epsilon(0.02));
}

TEST_CASE("serving groups have separate prompts, and take as long as one group") {
  input::Json one = good_serving();
  one["topology"]["torus"] = "1x4";
  one["mesh"] = {{"tensor", 4}};
  const VariantResult four = run(good_serving()).runs.front();
  const VariantResult alone = run(one).runs.front();
  CHECK(four.time_s == Approx(alone.time_s).epsilon(1e-9));
  CHECK(four.efficiency->tokens_per_s == Approx(alone.efficiency->tokens_per_s).epsilon(1e-9));
  CHECK(four.efficiency->tokens_per_s * four.time_s == Approx(8.0 / 4.0));
  CHECK_FALSE(four.efficiency->model_flops_share.has_value());
}

TEST_CASE("both engines give the same times") {
  const StepResult direct = run(good_step());
  const StepResult simgrid = run(changed(good_step(), "/engine", "simgrid"));
  for (std::size_t i = 0; i < direct.runs.size(); ++i)
    CHECK(simgrid.runs[i].time_s == Approx(direct.runs[i].time_s).epsilon(1e-6));
}

input::Json expert_training(const std::string& machine, const std::string& mesh) {
  input::Json json = input::Json::parse(R"({"memory": "ignore", "step": {"training": {
      "model": "mixtral-8x7b", "sequence": 128, "batch": 64, "microbatches": 4}}})");
  json.update(input::Json::parse(machine));
  json["mesh"] = input::Json::parse(mesh);
  return json;
}

TEST_CASE("training with divided experts takes the same time in both engines", "[long]") {
  for (const char* const mesh : {R"({"fsdp": 4, "expert": 4})", R"({"pipeline": 4, "expert": 4})",
                                 R"({"context": 4, "expert": 4})"}) {
    const input::Json json =
        expert_training(R"({"hardware": "tpu-v5e", "topology": {"torus": "4x4"}})", mesh);
    const double direct_s = run(json).runs.front().time_s;
    CHECK(run(changed(json, "/engine", "simgrid")).runs.front().time_s ==
          Approx(direct_s).epsilon(1e-6));
  }
}

TEST_CASE("a pipeline that predicts further tokens ends in both engines") {
  input::Json json = expert_training(R"({"hardware": "h100", "topology": {"switch": 8}})",
                                     R"({"pipeline": 2, "expert": 4})");
  json["step"]["training"]["model"] = "deepseek-v3";
  const double plain_s = run(json).runs.front().time_s;
  json["step"]["training"]["prediction_depth"] = 1;
  const double direct_s = run(json).runs.front().time_s;
  CHECK(direct_s > plain_s);
  CHECK(run(changed(json, "/engine", "simgrid")).runs.front().time_s ==
        Approx(direct_s).epsilon(1e-3));
}

TEST_CASE("rows of experts on other chips cross the links") {
  const StepResult result = run(
      expert_training(R"({"hardware": "h100", "topology": {"switch": 8}})", R"({"expert": 8})"));
  int exchanges = 0;
  for (const CollectiveResult& one : result.runs.front().collectives) {
    if (!one.group.starts_with("dispatch") && !one.group.starts_with("combine")) continue;
    ++exchanges;
    // Two sequences of 128 tokens, two experts of each, of width 4096 in bf16.
    CHECK(one.run.wire_bytes_per_link == 2 * 128 * 2 * 4096 * 2 * 7 / 8);
  }
  CHECK(exchanges > 0);
}

TEST_CASE("both engines agree if a chip receives in one permute and sends in others") {
  input::Json json = good_step();
  json.erase("variants");
  json["step"]["tasks"] = input::parse_json(R"([
    {"name": "to it", "permute": {"pairs": [[1, 13]], "bytes": "1 KiB"}},
    {"name": "from it {i}", "repeat": 3, "permute": {"pairs": [[13, 0]], "bytes": "2 KiB"}}])");
  const double direct_s = run(json).runs.front().time_s;
  json["engine"] = "simgrid";
  CHECK(run(json).runs.front().time_s == Approx(direct_s).epsilon(1e-6));
}

TEST_CASE("group times are within the step, and the critical path covers it") {
  for (const input::Json& json : {good_step(), good_training()})
    for (const VariantResult& variant : run(json).runs) {
      CHECK(variant.time_s >= variant.lower_bound_s * (1.0 - 1e-6));
      double critical_s = 0.0;
      for (const GroupResult& one : variant.groups) {
        CAPTURE(one.name);
        CHECK(one.total_s <= variant.time_s * (1.0 + 1e-9));
        CHECK(one.exposed_s <= one.total_s);
        CHECK(one.exposed_s >= 0.0);
        critical_s += one.critical_s;
      }
      CHECK(critical_s == Approx(variant.time_s));
    }
}

TEST_CASE("with different chips, task times are of the chip that ends last") {
  // The root of a broadcast finishes sending before others have received; a slow chip is later at
  // every task.
  input::Json broadcast = two_collectives("data", "fsdp", "one");
  broadcast["step"]["tasks"][1]["collective"]["kind"] = "broadcast";
  const input::Json slow = changed(two_collectives("data", "fsdp", "one"), "/faults/chips",
                                   R"j([{"chip": "(2,3)", "slowdown": 8}])j");
  const input::Json full = changed(broadcast, "/simulation", "full");
  CHECK(run(broadcast).runs.front().time_s == Approx(run(full).runs.front().time_s).epsilon(1e-9));
  for (const input::Json& json : {broadcast, full, slow}) {
    const VariantResult result = run(json).runs.front();
    CAPTURE(json.dump());
    CHECK(result.symmetric == (json == broadcast));
    CHECK(result.tasks.back().end_s == Approx(result.time_s).epsilon(1e-9));
    double critical_s = 0.0;
    for (const GroupResult& one : result.groups) critical_s += one.critical_s;
    CHECK(critical_s == Approx(result.time_s).epsilon(1e-9));
  }
}

TEST_CASE("compute without DMAs takes as long with shared HBM") {
  input::Json json = good_step();
  json.erase("variants");
  for (const std::string compute :
       {R"({"flops": 1e9, "times": 3})", R"({"hbm_bytes": "1 KiB"})", R"({"hbm_bytes": "1.375 B"})",
        R"({"hbm_bytes": "1 KiB", "times": 7})", R"({"hbm_bytes": "10 MiB", "flops": 1e7})",
        R"({"hbm_bytes": "1 KiB", "vector_ops": 1e9})",
        R"([{"hbm_bytes": "8 KiB"}, {"time": "1 us"}, {"flops": 1e6}])"}) {
    CAPTURE(compute);
    json["step"]["tasks"] = {{{"name", "a"}, {"compute", input::parse_json(compute)}}};
    json["wire_buffers"] = "vmem";
    const double isolated_s = run(json).runs.front().time_s;
    json["wire_buffers"] = "hbm";
    // Up to rounding of the last byte.
    CHECK(run(json).runs.front().time_s == Approx(isolated_s).margin(1.3e-12).epsilon(1e-9));
  }
}

TEST_CASE("overlapped collectives do not extend a step until they are exposed") {
  // Compute takes 10 ms, and the buckets less.
  const input::Json long_computing =
      changed(good_step(), "/step/tasks/1/compute", R"({"time": "10 ms"})");
  const VariantResult hidden = run(long_computing).runs.front();
  CHECK(hidden.compute_s >= 41e-3);
  CHECK(group(hidden, "bucket").exposed_s < group(hidden, "bucket").isolated_s);
  const VariantResult larger =
      run(changed(long_computing, "/step/tasks/2/collective/bytes", "1 GiB")).runs.front();
  CHECK(group(larger, "bucket").exposed_s > 0.5 * group(larger, "bucket").total_s);
}

TEST_CASE("a quantized collective takes less link time and more core time") {
  const StepResult result = run(changed(good_step(), "/step/tasks/2/collective/bytes", "64 MiB"));
  CHECK(result.runs[0].speedup == 1.0);
  CHECK(result.runs[1].speedup > 1.2);
  CHECK(result.runs[1].core_busy_s > result.runs[0].core_busy_s);
}

TEST_CASE("training reports utilization") {
  const StepResult result = run(good_training());
  const Efficiency& efficiency = result.runs.front().efficiency.value();
  CHECK(efficiency.model_flops_share > 0.05);
  CHECK(efficiency.model_flops_share < 1.0);
  CHECK(efficiency.hardware_flops_share < 1.0);
  CHECK(efficiency.tokens_per_s == Approx(8.0 * 512 / 16 / result.runs.front().time_s));
  CHECK(result.memory.has_value());
  CHECK_FALSE(run(good_step()).runs.front().efficiency);
}

TEST_CASE("slices connected by a network") {
  input::Json json = good_step();
  json["topology"]["network"] = {{"slices", 2}, {"bandwidth", "25 GB/s"}, {"latency", "5 us"}};
  json["mesh"] = {{"data", 2}, {"fsdp", 16}};
  const VariantResult across = run(json).runs.front();
  CHECK(across.symmetric);
  const VariantResult all = run(changed(json, "/simulation", "full")).runs.front();
  CHECK_FALSE(all.symmetric);
  CHECK(all.simulated_chips == 32);
  CHECK(across.time_s == Approx(all.time_s).epsilon(1e-9));
  json["step"]["tasks"][2]["collective"]["axes"] = {"data", "fsdp"};
  CHECK(run(json).runs.front().time_s > 0.0);
}

TEST_CASE("rounding is not exposed time") {
  VariantResult result;
  result.time_s = 1.0;
  result.compute_s = 0.75;
  CHECK(result.exposed_s() == 0.25);
  result.compute_s = 1.0 - 1e-15;
  CHECK(result.exposed_s() == 0.0);
  result.compute_s = 1.0 + 1e-15;
  CHECK(result.exposed_s() == 0.0);
}

}  // namespace
}  // namespace equarx::step::run_test
