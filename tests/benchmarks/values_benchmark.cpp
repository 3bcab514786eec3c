// Scaling of the value executor over threads: 16 ranks x 84 MiB of bf16, full-loop int8 on both
// phases, all elements computed. Also reports the peak memory of the process.
#include <cstdint>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/values/value_executor.hpp"

namespace {

using namespace equarx;

constexpr std::uint32_t kRanks = 16;
constexpr std::uint64_t kElements = 84ULL * 1024 * 1024 / 2;

collectives::Program program() {
  const numerics::BlockFormat int8{.element = numerics::ElementFormat::int8, .scaled = true};
  const std::uint64_t segment = kElements / kRanks / 2;
  const std::uint32_t minishards =
      collectives::default_minishards(int8, segment, collectives::kDefaultElementsPerScale);
  return collectives::make_ring_program(
      collectives::RankGrid({kRanks}), kElements, numerics::ElementFormat::bf16,
      {.style = collectives::RingStyle::full_loop,
       .reduce_scatter = int8,
       .all_gather = int8,
       .cut = {.minishards = minishards,
               .microshards = collectives::default_microshards(int8, segment, minishards)}});
}

void all_reduce_values(benchmark::State& state) {
  const collectives::Program ring = program();
  const values::TensorSource source(numerics::InputSpec{}, kElements,
                                    numerics::ElementFormat::bf16);
  const auto threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(values::execute(ring, source, {.threads = threads}));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kElements * kRanks));
}

BENCHMARK(all_reduce_values)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
