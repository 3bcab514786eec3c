// How much of SimGrid's own speed the time executor leaves: messages per second of a quantized ring
// AllReduce, beside a bare loop of as many matched sends, receptions and executions.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <simgrid/s4u.hpp>
#include <sys/resource.h>

#include "sim/child_process.hpp"
#include "sim/simgrid_platform.hpp"
#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"
#include "sim/timeline.hpp"
#include "tests/support/machines.hpp"

namespace {

namespace s4u = simgrid::s4u;
using namespace equarx;

constexpr double kRate = 45e9;
constexpr double kLatency = 0.4e-6;
constexpr testing::UniformCosts kCosts{.work_s = 50e-9, .send_s = 20e-9, .wait_s = 10e-9};

collectives::Program program_for(std::uint32_t ranks) {
  // Fewer parts where there are more steps, so that both sizes take a second or so.
  const std::uint32_t parts = ranks <= 16 ? 8 : 1;
  return testing::make_ring_all_reduce(
      ranks, std::uint64_t{ranks} * 2 * parts * parts * 1024, numerics::ElementFormat::bf16,
      testing::quantized(parts, parts, collectives::RingStyle::full_loop));
}

/// As many of each as one chip of the program has.
struct Load {
  std::uint64_t messages = 0;    // received from each of two directions
  std::uint64_t executions = 0;  // pieces of core time between transfers
};

Load load_of(const collectives::Program& program) {
  Load load{program.messages.size() / 2, 0};
  for (const sim::Step& step : sim::make_timeline(program, kCosts.of(program)))
    load.executions += step.delay_s > 0.0 ? 1 : 0;
  return load;
}

/// What the executor cannot do without, in its fastest known form: blocking receptions in one simulation
/// call, asynchronous sends that are waited for a little later, a sleep for each execution.
void bare_loop(const sim::Machine& machine, const Load& load) {
  sim::SimgridEngine platform(machine);
  const std::uint32_t ranks = machine.ranks();
  std::vector<s4u::Mailbox*> mailboxes;
  for (std::uint32_t i = 0; i < 2 * ranks; ++i)
    mailboxes.push_back(s4u::Mailbox::by_name(std::to_string(i)));
  static int payload = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    sim::SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank), [&, rank] {
      mailboxes[2 * rank]->set_receiver(s4u::Actor::self());
      mailboxes[2 * rank + 1]->set_receiver(s4u::Actor::self());
      s4u::this_actor::yield();
      const std::uint32_t next = (rank + 1) % ranks;
      const std::uint32_t last = (rank + ranks - 1) % ranks;
      std::uint64_t executed = 0;
      for (std::uint64_t i = 1; i <= load.messages; ++i) {
        const s4u::CommPtr forward = mailboxes[2 * next]->put_async(&payload, 1024);
        const s4u::CommPtr backward = mailboxes[2 * last + 1]->put_async(&payload, 1024);
        for (std::uint32_t way = 0; way < 2; ++way) {
          void* arrived = nullptr;
          mailboxes[2 * rank + way]->get_init()->set_dst_data(&arrived, sizeof arrived)->wait();
        }
        for (; executed < load.executions * i / load.messages; ++executed)
          s4u::this_actor::sleep_for(50e-9);
        forward->wait();
        backward->wait();
      }
    });
  platform.engine().run();
}

void report(benchmark::State& state, const collectives::Program& program) {
  state.SetItemsProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(program.messages.size()));
  state.counters["messages"] =
      static_cast<double>(state.range(0)) * static_cast<double>(program.messages.size());
  state.counters["executions"] =
      static_cast<double>(state.range(0)) * static_cast<double>(load_of(program).executions);
}

void bare_simgrid(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const collectives::Program program = program_for(ranks);
  const sim::Machine machine = testing::ring_machine(ranks, kRate, kLatency);
  const Load load = load_of(program);
  for (auto _ : state) {
    const auto outcome = sim::run_in_child([&] {
      bare_loop(machine, load);
      return std::vector<std::byte>{};
    });
    if (!outcome.succeeded) state.SkipWithError(outcome.failure.c_str());
  }
  report(state, program);
}

void time_executor(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const collectives::Program program = program_for(ranks);
  const sim::Machine machine = testing::ring_machine(ranks, kRate, kLatency);
  const sim::Costs costs = kCosts.of(program);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(program, machine, costs));
  report(state, program);
}

/// A torus with wraparound, as large as a pod.
std::vector<std::uint32_t> lengths_of(const benchmark::State& state) {
  std::vector<std::uint32_t> lengths;
  for (int axis = 0; axis < 3; ++axis)
    if (state.range(axis) > 1) lengths.push_back(static_cast<std::uint32_t>(state.range(axis)));
  return lengths;
}

/// AllReduce of bf16 whose shards are cut in `microshards`.
collectives::Program torus_program(const std::vector<std::uint32_t>& lengths,
                                   std::uint32_t microshards) {
  const collectives::RankGrid grid(lengths);
  const std::uint64_t elements =
      std::uint64_t{grid.ranks()} * 2 * lengths.size() * microshards * 1024;
  return make_ring_program(grid, elements, numerics::ElementFormat::bf16,
                           testing::plain(numerics::ElementFormat::bf16, microshards));
}

/// Everything that a pod costs if its chips do the same: the program, its representatives, their run.
void symmetric_torus(benchmark::State& state) {
  constexpr std::uint32_t kMicroshards = 16;
  const std::vector<std::uint32_t> lengths = lengths_of(state);
  std::uint64_t messages = 0;
  for (auto _ : state) {
    const collectives::Program program = torus_program(lengths, kMicroshards);
    const sim::Machine machine = sim::representative(program, {"link", kRate, kLatency}, 16);
    benchmark::DoNotOptimize(simulate(program, machine, kCosts.of(program)));
    messages = program.messages.size();
  }
  state.counters["messages_per_chip"] = static_cast<double>(messages);
}

/// Every chip for itself. The peak of memory is that of the largest child process so far.
void full_torus(benchmark::State& state, bool slow_link) {
  const collectives::Program program =
      torus_program(lengths_of(state), static_cast<std::uint32_t>(state.range(3)));
  sim::Machine machine = testing::torus_machine(program, kRate, kLatency);
  if (slow_link) machine.links.front().rate /= 2.0;
  const sim::Costs costs = kCosts.of(program);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(program, machine, costs));
  state.SetItemsProcessed(state.iterations() * machine.ranks() *
                          static_cast<std::int64_t>(program.messages.size()));
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

// The clock of the wall: the work is done in a child process.
BENCHMARK(bare_simgrid)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(time_executor)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

BENCHMARK(symmetric_torus)
    ->Args({16, 16, 16})
    ->Args({16, 24, 24})  // 9,216 chips
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(full_torus, uniform, false)
    ->Args({16, 16, 1, 4})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Minutes and gigabytes, so only if it is asked for: --pod.
void add_pod() {
  benchmark::RegisterBenchmark("full_torus/slow_link",
                               [](benchmark::State& state) { full_torus(state, true); })
      ->Args({16, 16, 16, 1})
      ->Iterations(1)
      ->Unit(benchmark::kSecond)
      ->UseRealTime();
}

}  // namespace

int main(int count, char** arguments) {
  char** const end = arguments + count;
  char** const left = std::remove_if(arguments + 1, end, [](const char* argument) {
    return std::string_view(argument) == "--pod";
  });
  if (left != end) add_pod();
  count = static_cast<int>(left - arguments);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
