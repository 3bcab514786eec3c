// Time of a step for samples and searches relative to its simulation in full: a training step of a
// transformer with 80 layers, by its number of microbatches.
#include <benchmark/benchmark.h>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/timing.hpp"

namespace {

using namespace equarx;

step::StepPlan training_step(std::int64_t microbatches) {
  input::Json json = input::Json::parse(R"({
    "hardware": "tpu-v6e",
    "topology": {"torus": "16x16"},
    "mesh": {"fsdp": 16, "tensor": 16},
    "step": {"training": {"model": "llama3-70b", "sequence": 1024, "batch": 256, "remat": "full",
                          "weight_bytes": 2, "moment_bytes": 1}}
  })");
  json["step"]["training"]["microbatches"] = microbatches;
  return step::make_plan(config::read_step_config(json));
}

void full(benchmark::State& state) {
  const step::StepPlan plan = training_step(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(step::time_of(plan, plan.variants.front(), {}));
}
BENCHMARK(full)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

void shortened(benchmark::State& state) {
  const step::StepPlan plan = training_step(state.range(0));
  const sim::Cuts cuts = step::find_cuts(plan, plan.variants.front()).cuts;
  for (auto _ : state) benchmark::DoNotOptimize(step::time_of(plan, plan.variants.front(), cuts));
}
BENCHMARK(shortened)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
