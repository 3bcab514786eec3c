// Messages per second of both engines; for a quantized ring AllReduce also compared with a bare
// SimGrid loop of the same numbers of matched sends, receives and executions.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <simgrid/s4u.hpp>
#include <sys/resource.h>

#include "models/collectives/algorithm.hpp"
#include "sim/engines/simgrid/child_process.hpp"
#include "sim/engines/simgrid/platform.hpp"
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
  // Fewer parts for more steps, so that both sizes take about a second.
  const std::uint32_t parts = ranks <= 16 ? 8 : 1;
  return testing::make_ring_all_reduce(
      ranks, std::uint64_t{ranks} * 2 * parts * parts * 1024, numerics::ElementFormat::bf16,
      testing::quantized(parts, parts, collectives::RingStyle::full_loop));
}

/// Operation counts of one chip of the program.
struct Load {
  std::uint64_t messages = 0;    // received per direction, of two
  std::uint64_t executions = 0;  // compute intervals between transfers
};

Load load_of(const collectives::Program& program) {
  Load load{program.messages.size() / 2, 0};
  for (const sim::Step& step : sim::make_timeline(program, kCosts.of(program)))
    load.executions += step.delay_s > 0.0 ? 1 : 0;
  return load;
}

/// Minimal work of the executor in its fastest known form: blocking receives in one simulation
/// call, asynchronous sends completed a little later, and one sleep per execution.
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
        for (std::uint32_t direction = 0; direction < 2; ++direction) {
          void* arrived = nullptr;
          mailboxes[2 * rank + direction]
              ->get_init()
              ->set_dst_data(&arrived, sizeof arrived)
              ->wait();
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

void time_executor(benchmark::State& state, sim::Engine engine) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const collectives::Program program = program_for(ranks);
  const sim::Machine machine = testing::ring_machine(ranks, kRate, kLatency);
  const sim::Costs costs = kCosts.of(program);
  for (auto _ : state)
    benchmark::DoNotOptimize(simulate(program, machine, costs, {.engine = engine}));
  report(state, program);
}

/// A torus with wraparound, as large as a pod.
std::vector<std::uint32_t> lengths_of(const benchmark::State& state) {
  std::vector<std::uint32_t> lengths;
  for (int axis = 0; axis < 3; ++axis)
    if (state.range(axis) > 1) lengths.push_back(static_cast<std::uint32_t>(state.range(axis)));
  return lengths;
}

/// AllReduce of bf16 with `microshards` microshards per shard.
collectives::Program torus_program(const std::vector<std::uint32_t>& lengths,
                                   std::uint32_t microshards) {
  const collectives::RankGrid grid(lengths);
  const std::uint64_t elements =
      std::uint64_t{grid.ranks()} * 2 * lengths.size() * microshards * 1024;
  return make_ring_program(grid, elements, numerics::ElementFormat::bf16,
                           testing::plain(numerics::ElementFormat::bf16, microshards));
}

/// Total cost of a symmetric pod: the program, its representative chips, and their simulation.
void symmetric_torus(benchmark::State& state, sim::Engine engine) {
  constexpr std::uint32_t kMicroshards = 16;
  const std::vector<std::uint32_t> lengths = lengths_of(state);
  std::uint64_t messages = 0;
  for (auto _ : state) {
    const collectives::Program program = torus_program(lengths, kMicroshards);
    const sim::Machine machine = sim::representative(program, {"link", kRate, kLatency}, 16);
    benchmark::DoNotOptimize(simulate(program, machine, kCosts.of(program), {.engine = engine}));
    messages = program.messages.size();
  }
  state.counters["messages_per_chip"] = static_cast<double>(messages);
}

/// Peak memory of this process, or of a child process for SimGrid.
double peak_mb(sim::Engine engine) {
  rusage usage{};
  getrusage(engine == sim::Engine::simgrid ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

/// Simulates every chip separately, with one link at half its rate.
void slow_link(benchmark::State& state, sim::Engine engine) {
  const collectives::Program program =
      torus_program(lengths_of(state), static_cast<std::uint32_t>(state.range(3)));
  sim::Machine machine = testing::torus_machine(program, kRate, kLatency);
  machine.links.front().rate /= 2.0;
  const sim::Costs costs = kCosts.of(program);
  for (auto _ : state)
    benchmark::DoNotOptimize(simulate(program, machine, costs, {.engine = engine}));
  state.SetItemsProcessed(state.iterations() * machine.ranks() *
                          static_cast<std::int64_t>(program.messages.size()));
  state.counters["peak_MB"] = peak_mb(engine);
}

/// Chips of a mesh or torus with dimension-ordered routing.
sim::Machine grid_machine(const collectives::Program& program,
                          const std::vector<std::uint32_t>& lengths, bool wraps) {
  const collectives::RankGrid grid(lengths);
  sim::Machine machine;
  machine.dma_queue = 16;
  // Per chip, axis and direction; those at the ends of a mesh are unconnected.
  for (std::uint32_t link = 0; link < grid.ranks() * 2 * lengths.size(); ++link)
    machine.links.push_back({std::to_string(link), kRate, kLatency});
  const auto route = [&](collectives::Rank from, collectives::Rank to) {
    sim::Route links;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      const std::uint32_t length = lengths[axis];
      const std::uint32_t ahead =
          (grid.coordinate(to, axis) + length - grid.coordinate(from, axis)) % length;
      const bool up =
          wraps ? ahead <= length / 2 : grid.coordinate(to, axis) > grid.coordinate(from, axis);
      const collectives::Offset step = grid.along(axis, up ? 1 : length - 1);
      for (; grid.coordinate(from, axis) != grid.coordinate(to, axis); from = grid.move(from, step))
        links.push_back(static_cast<sim::LinkIndex>((from * lengths.size() + axis) * 2 + !up));
    }
    return links;
  };
  for (collectives::Rank rank = 0; rank < grid.ranks(); ++rank) {
    machine.chip_names.push_back(std::to_string(rank));
    auto& out_ports = machine.out_ports.emplace_back();
    for (const collectives::Channel& channel : program.channels) {
      const collectives::Rank peer = program.grid().move(rank, channel.offset);
      out_ports.push_back({peer, route(rank, peer)});
    }
  }
  return machine;
}

struct Exchange {
  const char* algorithm;
  collectives::Collective collective;
  std::vector<std::uint32_t> lengths;
  bool wraps;
};

/// Exchange of 1 MiB between all chips of a machine, whose messages share links.
void exchange(benchmark::State& state, const Exchange& what, sim::Engine engine) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t length : what.lengths) ranks *= length;
  const numerics::BlockFormat bf16{.element = numerics::ElementFormat::bf16};
  const collectives::Program program = collectives::find_algorithm(what.algorithm)
                                           ->make({.collective = what.collective,
                                                   .grid = collectives::RankGrid({ranks}),
                                                   .elements = 1 << 19,
                                                   .reduce_scatter = bf16,
                                                   .all_gather = bf16,
                                                   .cut = {1, 1, 128}});
  const sim::Machine machine = grid_machine(program, what.lengths, what.wraps);
  const sim::Costs costs = kCosts.of(program);
  for (auto _ : state)
    benchmark::DoNotOptimize(simulate(program, machine, costs, {.engine = engine}));
  state.SetItemsProcessed(state.iterations() * ranks *
                          static_cast<std::int64_t>(program.messages.size()));
}

// Wall-clock time, because SimGrid runs in a child process.
void add(const std::string& name, std::function<void(benchmark::State&)> run,
         const std::vector<std::vector<std::int64_t>>& arguments = {{}}) {
  auto* const added = benchmark::RegisterBenchmark(name.c_str(), std::move(run));
  added->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const auto& one : arguments) added->Args(one);
}

/// Registers the benchmarks of both engines and the bare SimGrid loop.
void add_all() {
  const Exchange exchanges[] = {{"two-shot", collectives::Collective::all_reduce, {8, 8}, false},
                                {"one-shot", collectives::Collective::all_reduce, {8, 8}, false},
                                {"direct", collectives::Collective::all_to_all, {4, 4, 4}, true}};
  add("bare_simgrid", bare_simgrid, {{16}, {256}});
  for (const auto engine : {sim::Engine::simgrid, sim::Engine::direct}) {
    const std::string suffix = engine == sim::Engine::simgrid ? "/simgrid" : "/direct";
    using benchmark::State;
    add("time_executor" + suffix, [=](State& state) { time_executor(state, engine); },
        {{16}, {256}});
    add("symmetric_torus" + suffix, [=](State& state) { symmetric_torus(state, engine); },
        {{16, 16, 16}, {16, 24, 24}});  // the second one has 9,216 chips
    add("slow_link" + suffix, [=](State& state) { slow_link(state, engine); },
        {{16, 16, 1, 4}, {16, 16, 1, 16}});
    for (const Exchange& what : exchanges)
      add(std::string(what.algorithm) + suffix,
          [=](State& state) { exchange(state, what, engine); });
  }
}

/// Takes minutes on SimGrid, and gigabytes if every microshard is a message: only with --pod.
void add_pod() {
  add("pod/direct", [](benchmark::State& state) { slow_link(state, sim::Engine::direct); },
      {{16, 16, 16, 1}, {16, 16, 16, 16}});
  add("pod/simgrid", [](benchmark::State& state) { slow_link(state, sim::Engine::simgrid); },
      {{16, 16, 16, 1}});
}

}  // namespace

int main(int count, char** arguments) {
  char** const end = arguments + count;
  char** const left = std::remove_if(arguments + 1, end, [](const char* argument) {
    return std::string_view(argument) == "--pod";
  });
  add_all();
  if (left != end) add_pod();
  count = static_cast<int>(left - arguments);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
