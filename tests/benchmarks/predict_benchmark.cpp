// Cached answers of the C interface, by number of threads that share a predictor, relative to
// simulated ones.
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "tools/capi/equarx.h"

namespace {

equarx_predictor* make_predictor(std::uint32_t cache_entries) {
  equarx_options options{};
  options.size = sizeof options;
  options.cache_entries = cache_entries;
  options.threads = 1;
  options.skip = EQUARX_SKIP_ERRORS | EQUARX_SKIP_INTERVALS;
  equarx_predictor* predictor = nullptr;
  if (equarx_predictor_create(R"({"hardware": "h100", "topology": {"switch": 8}})", &options,
                              &predictor) != EQUARX_OK)
    std::abort();
  return predictor;
}

void predict(const equarx_predictor* predictor, std::uint64_t bytes) {
  equarx_query query{};
  query.size = sizeof query;
  query.collective = "reduce-scatter";
  query.bytes = bytes;
  equarx_answer answer{};
  answer.size = sizeof answer;
  if (equarx_predict(predictor, &query, &answer) != EQUARX_OK) std::abort();
  benchmark::DoNotOptimize(answer);
}

/// Over 1024 cached sizes.
void cached(benchmark::State& state) {
  static equarx_predictor* const predictor = make_predictor(0);
  constexpr std::uint64_t kSizes = 1024;
  if (state.thread_index() == 0)
    for (std::uint64_t i = 0; i < kSizes; ++i) predict(predictor, 4096 + 64 * i);
  std::uint64_t i = 0;
  for (auto _ : state) predict(predictor, 4096 + 64 * (i++ % kSizes));
}
BENCHMARK(cached)->Threads(1)->Threads(2)->Unit(benchmark::kMicrosecond);

void simulated(benchmark::State& state) {
  static equarx_predictor* const predictor = make_predictor(1);
  std::uint64_t i = 0;
  for (auto _ : state) predict(predictor, 4096 + 64 * (i++ % 16));
}
BENCHMARK(simulated)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
