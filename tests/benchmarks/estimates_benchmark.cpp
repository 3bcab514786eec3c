// Planning and simulation of exchanges over shared links, and the estimate of their time, which `auto`
// and `tune` go by.
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "experiments/plan/plan.hpp"
#include "sim/time_executor.hpp"
#include "tests/support/exchanges.hpp"

namespace {

using namespace equarx;

struct Exchange {
  const char* kind;
  const char* lengths;
  const char* algorithm;
  std::uint32_t minishards;
};

/// Counter `estimated`: estimated over measured time.
void simulate(benchmark::State& state, const Exchange& exchange) {
  const config::ExperimentConfig config = testing::exchange_on(
      exchange.kind, exchange.lengths, exchange.algorithm, exchange.minishards);
  double estimated_s = 0.0;
  for (auto _ : state) {
    const plan::Plan plan = plan::make_plan(config);
    const plan::CollectivePlan& only = plan.collectives.front().candidates.front();
    benchmark::DoNotOptimize(
        sim::simulate(only.program, only.simulated.machine(), only.costs,
                      {.engine = sim::Engine::direct, .by_class = only.simulated.by_class}));
    state.PauseTiming();
    estimated_s += plan::simulation_time_s(only.config, config, "").value();
    state.ResumeTiming();
  }
  state.counters["estimated"] = benchmark::Counter(estimated_s, benchmark::Counter::kIsRate);
}

}  // namespace

int main(int count, char** arguments) {
  for (const Exchange& exchange : {Exchange{"torus", "16x16", "direct", 1},
                                   {"torus", "12x12", "two-shot", 1},
                                   {"torus", "8x8", "direct", 4},
                                   {"torus", "12x8", "direct", 1},
                                   {"torus", "8x8x8", "direct", 1},
                                   {"mesh", "8x8", "direct", 1},
                                   {"mesh", "8x8", "direct", 2},
                                   {"mesh", "6x6", "direct", 2},
                                   {"mesh", "8x8", "direct", 16},
                                   {"mesh", "8x8", "one-shot", 1},
                                   {"mesh", "10x8", "two-shot", 1}}) {
    const std::string name = std::string(exchange.kind) + "/" + exchange.lengths + "/" +
                             exchange.algorithm + "/" + std::to_string(exchange.minishards);
    benchmark::RegisterBenchmark(name.c_str(), simulate, exchange)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
