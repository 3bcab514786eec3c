// Overhead of a sweep over its points: 1,000 small points, times only; points that share programs,
// or runs.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/machine.hpp"
#include "experiments/plan/symmetric_timing.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/sweep/known_runs.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/runner.hpp"

namespace {

using namespace equarx;
using namespace equarx::sweep;

constexpr std::size_t kPoints = 1000;

SweepPoints small_points() {
  return SweepPoints(read_sweep(input::parse_json(R"({
    "base": {
      "hardware": "tpu-v5e",
      "topology": { "slice": "2x2" },
      "tensor": { "bytes": "64 KiB" },
      "collectives": [
        { "label": "bf16", "algorithm": "ring", "format": "bf16" },
        { "label": "int8", "algorithm": "equarx", "format": "int8" }
      ],
      "numerics": "off"
    },
    "axes": [
      { "key": "/tensor/bytes", "range": { "from": "64 KiB", "to": "16000 KiB", "step": "64 KiB" } },
      { "key": "/collectives/int8/minishards", "values": [1, 2, 3, 4] }
    ]
  })"),
                                ".", "small"));
}

/// Points of one size on chips with other links, or of other sizes on one chip: the first share their
/// programs.
SweepPoints points_along(const std::string& axis) {
  return SweepPoints(read_sweep(input::parse_json(R"({
    "base": {
      "hardware": { "based_on": "tpu-v5e" },
      "topology": { "slice": "4x4" },
      "tensor": { "bytes": "4 MiB" },
      "collectives": [{ "algorithm": "ring", "format": "bf16" }, { "algorithm": "equarx", "format": "int8" }],
      "numerics": "off"
    },
    "axes": [)" + axis + "]\n}"),
                                ".", "alike"));
}

/// CPU time of this process and of its terminated children.
double cpu_seconds() {
  double seconds = 0.0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

/// CPU time of the points alone, run sequentially.
double cpu_of_points(const SweepPoints& points) {
  const double before = cpu_seconds();
  for (std::size_t point = 0; point < points.size(); ++point)
    benchmark::DoNotOptimize(run::run_experiment(
        plan::make_plan(config::read_config(points.config(point)), plan::RunProfile::batch),
        [](const std::string&) {}));
  return cpu_seconds() - before;
}

/// Creates an empty temporary directory; removes it on destruction.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "equarx-sweep-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) std::abort();
    path_ = path;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A complete sweep, including its tables.
void run_all(const SweepPoints& points, const std::filesystem::path& folder) {
  SweepStore store(folder);
  store.open();
  const SweepOutcome outcome = run_sweep(
      points, store, {.jobs = std::thread::hardware_concurrency()}, [](const SweepStatus&) {});
  benchmark::DoNotOptimize(sweep_csv(points, outcome.keyed, store));
  if (outcome.status.failed > 0 || outcome.status.done != kPoints) std::abort();
}

void sweep(benchmark::State& state) {
  const SweepPoints points = small_points();
  const double alone = cpu_of_points(points);
  for (auto _ : state) {
    const Folder folder;
    const double before = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    run_all(points, folder.path());
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double cpu = cpu_seconds() - before;
    state.counters["overhead"] = cpu / alone - 1.0;
    state.counters["busy_cores"] = cpu / wall;  // lower if other processes use the cores
    state.counters["cpu_per_point_ms"] = 1e3 * alone / static_cast<double>(kPoints);
  }
}
BENCHMARK(sweep)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

void points_with_shared_programs(benchmark::State& state) {
  const SweepPoints alike = points_along(
      R"({ "key": "/hardware/link_bandwidth", "range": { "from": "40 GB/s", "to": "49.9 GB/s", "step": "0.1 GB/s" } })");
  const SweepPoints others = points_along(
      R"({ "key": "/tensor/bytes", "range": { "from": "4000 KiB", "to": "4396 KiB", "step": "4 KiB" } })");
  for (auto _ : state) {
    const double alike_s = cpu_of_points(alike);
    state.counters["cpu_to_other_sizes"] = alike_s / cpu_of_points(others);
    state.counters["cpu_per_point_ms"] = 1e3 * alike_s / static_cast<double>(alike.size());
  }
}
BENCHMARK(points_with_shared_programs)->Unit(benchmark::kSecond)->Iterations(1);

/// Points of a quantized collective's tiling, whose baseline is the same: with runs that are known,
/// relative to whole runs.
void points_with_a_known_baseline(benchmark::State& state) {
  const SweepPoints points = points_along(
      R"({ "key": "/collectives/1/minishards", "values": [1, 2, 3, 4, 5, 6, 7, 8] },
         { "key": "/tensor/bytes", "range": { "from": "4000 KiB", "to": "4400 KiB", "step": "40 KiB" } })");
  for (auto _ : state) {
    const double whole_s = cpu_of_points(points);
    KnownRuns known;
    const double before = cpu_seconds();
    for (std::size_t point = 0; point < points.size(); ++point) {
      const config::ExperimentConfig config = config::read_config(points.config(point));
      benchmark::DoNotOptimize(known.runs(config, config::to_json(config)));
    }
    state.counters["cpu_to_whole_runs"] = (cpu_seconds() - before) / whole_s;
  }
}
BENCHMARK(points_with_a_known_baseline)->Unit(benchmark::kSecond)->Iterations(1);

/// Times of a program on chips with other parameters, kept or made anew.
void other_chips(benchmark::State& state, bool kept) {
  config::ExperimentConfig config = config::read_config(
      points_along(R"({ "key": "/tensor/bytes", "values": ["4 MiB"] })").config(0));
  const collectives::Program program =
      plan::make_plan(config).collectives.back().candidates.front().program;
  const plan::SymmetricTiming timing(program);
  for (auto _ : state) {
    config.chip.hop_latency.value *= 1.001;
    if (kept) {
      benchmark::DoNotOptimize(timing.time_s(config.chip));
      continue;
    }
    const sim::Machine machine = plan::representative_of(program, config);
    benchmark::DoNotOptimize(sim::simulate(
        program, machine, plan::program_costs(program, config.chip),
        {.engine = sim::Engine::direct,
         .by_class = sim::by_class(machine, std::vector<std::uint32_t>(machine.ranks()))}));
  }
}
BENCHMARK_CAPTURE(other_chips, kept, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(other_chips, anew, false)->Unit(benchmark::kMicrosecond);

void finished_sweep_again(benchmark::State& state) {
  const SweepPoints points = small_points();
  const Folder folder;
  run_all(points, folder.path());
  for (auto _ : state) run_all(points, folder.path());
}
BENCHMARK(finished_sweep_again)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

}  // namespace

BENCHMARK_MAIN();
