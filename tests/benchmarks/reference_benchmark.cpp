// Work to which the table of figures (table.py) relates times: a copy out of cache, and a plain loop.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

/// Copies 1 GiB, in blocks of 64 MiB, which exceed the caches.
void copy(benchmark::State& state) {
  constexpr std::size_t kBlock = std::size_t{64} << 20;
  const std::vector<std::byte> from(kBlock, std::byte{1});
  std::vector<std::byte> to(kBlock);
  for (auto _ : state)
    for (int block = 0; block < 16; ++block) {
      std::memcpy(to.data(), from.data(), kBlock);
      benchmark::ClobberMemory();
    }
}
BENCHMARK(copy)->Unit(benchmark::kMillisecond);

/// 10^8 dependent multiplications and additions.
void loop(benchmark::State& state) {
  std::uint64_t value = 1;
  for (auto _ : state) {
    for (int i = 0; i < 100'000'000; ++i) {
      value = value * 6364136223846793005U + 1442695040888963407U;
      benchmark::DoNotOptimize(value);
    }
  }
}
BENCHMARK(loop)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
