#include "sim/repetition.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/symmetry.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::repetition_test {
namespace {

using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::UniformCosts;

constexpr double kRate = 45e9;

std::string number_of(std::uint32_t, std::uint32_t task) { return "task " + std::to_string(task); }

double full_time_s(const StepProgram& work, const Machine& machine) {
  return simulate(make_timelines(work, machine.ranks()), machine, number_of,
                  {.engine = Engine::direct})
      .time_s;
}

StepTime cuts_for(const StepProgram& work, const Machine& machine) {
  return find_cuts(work, machine, number_of, {.engine = Engine::direct});
}

double short_time_s(const StepProgram& work, const Machine& machine, const Cuts& cuts) {
  return step_time(work, machine, number_of, {.engine = Engine::direct}, cuts).time_s;
}

/// Two programs with their machine: AllReduces along rings of their own.
struct Rings {
  collectives::Program large =
      make_ring_all_reduce(4, 1 << 18, ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  collectives::Program small =
      make_ring_all_reduce(4, 1 << 14, ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  Costs large_costs = UniformCosts{.work_s = 2e-6, .send_s = 0.1e-6, .wait_s = 0.05e-6}.of(large);
  Costs small_costs = UniformCosts{.work_s = 1e-6, .send_s = 0.1e-6, .wait_s = 0.05e-6}.of(small);

  /// The second program shares the links of the first unless they are `apart`.
  Machine machine(bool apart) const {
    std::vector<std::uint64_t> peers;
    for (const collectives::Channel& channel : large.channels) peers.push_back(channel.offset);
    for (const collectives::Channel& channel : small.channels)
      peers.push_back(channel.offset + (apart ? 100U : 0U));
    return representative(peers, {"link", kRate, 1e-6}, 4);
  }
  std::vector<PlacedProgram> programs() const {
    return {{&large, &large_costs}, {&small, &small_costs}};
  }
};

enum Stream : std::uint32_t { core, first, second, host };

/// Builds a step task by task.
class Steps {
 public:
  explicit Steps(const Rings& rings) {
    work_.programs = rings.programs();
    work_.streams.resize(4);
  }

  std::uint32_t add(Stream stream, double seconds, std::vector<std::uint32_t> after = {}) {
    TaskRun run{.task = work_.tasks++, .after = std::move(after)};
    if (stream == core) run.core_s = seconds;
    if (stream == host) run.host_s = seconds;
    if (stream == first) run.program = 0;
    if (stream == second) run.program = 1;
    work_.streams[stream].push_back(std::move(run));
    return work_.tasks - 1;
  }

  const StepProgram& work() const { return work_; }

 private:
  StepProgram work_;
};

/// `layers` of compute, a collective that the next compute waits for, and one that is overlapped.
StepProgram layers_of(const Rings& rings, std::uint32_t layers, double core_s) {
  Steps steps(rings);
  std::uint32_t before = steps.add(core, 1e-4);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const std::uint32_t forward =
        steps.add(core, core_s, layer == 0 ? std::vector<std::uint32_t>{} : std::vector{before});
    before = steps.add(second, 0.0, {forward});
    steps.add(first, 0.0, {forward});
  }
  steps.add(core, 2e-4, {before, before + 1});
  return steps.work();
}

TEST_CASE("layers are one run, without what precedes and follows them") {
  const Rings rings;
  const auto runs = find_repetitions(layers_of(rings, 20, 1e-3), 2, 100);
  CHECK(runs == std::vector<Repetition>{{1, 3, 20}});
}

TEST_CASE("a run ends where work or stream differ, whatever it depends on before") {
  const Rings rings;
  Steps steps(rings);
  for (int i = 0; i < 5; ++i) steps.add(core, 1e-3);
  for (int i = 0; i < 4; ++i) steps.add(core, 2e-3);
  for (int i = 0; i < 3; ++i) steps.add(host, 2e-3);
  for (int i = 0; i < 3; ++i) steps.add(first, 0.0, {static_cast<std::uint32_t>(2 + 3 * i)});
  CHECK(find_repetitions(steps.work(), 3, 100) ==
        std::vector<Repetition>{{0, 1, 5}, {5, 1, 4}, {9, 1, 3}, {12, 1, 3}});
  CHECK(find_repetitions(steps.work(), 5, 100) == std::vector<Repetition>{{0, 1, 5}});
}

TEST_CASE("a run ends where dependencies within it differ") {
  const Rings rings;
  Steps steps(rings);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::uint32_t forward = steps.add(core, 1e-3);
    steps.add(first, 0.0, {i < 7 ? forward : forward - 2});
  }
  CHECK(find_repetitions(steps.work(), 4, 100) == std::vector<Repetition>{{0, 2, 7}, {14, 2, 5}});
}

TEST_CASE("a cut leaves no dependency twice") {
  const Rings rings;
  Steps steps(rings);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::uint32_t forward = steps.add(core, 1e-3);
    steps.add(first, 0.0,
              forward < 6 ? std::vector{forward} : std::vector{forward, forward - 2, forward - 6});
  }
  const StepProgram shorter = without(steps.work(), {{{0, 2, 12}, 4, 6}});
  for (const TaskRun& run : shorter.streams[first]) {
    CAPTURE(run.task);
    std::vector<std::uint32_t> once = run.after;
    std::ranges::sort(once);
    CHECK(std::ranges::adjacent_find(once) == once.end());
  }
}

TEST_CASE("no runs are found among tasks that precede their dependencies") {
  const Rings rings;
  Steps steps(rings);
  for (int i = 0; i < 20; ++i) steps.add(core, 1e-3);
  steps.add(core, 1e-3, {21});
  steps.add(first, 0.0);
  CHECK(find_repetitions(steps.work(), 2, 100).empty());
}

TEST_CASE("a cut moves dependencies to the remaining periods") {
  const Rings rings;
  const StepProgram work = layers_of(rings, 20, 1e-3);
  const Repetition run{1, 3, 20};
  const StepProgram shorter = without(work, {{run, 4, 18}});
  const StepProgram expected = layers_of(rings, 6, 1e-3);
  REQUIRE(shorter.tasks == expected.tasks);
  for (std::size_t stream = 0; stream < expected.streams.size(); ++stream) {
    REQUIRE(shorter.streams[stream].size() == expected.streams[stream].size());
    for (std::size_t i = 0; i < expected.streams[stream].size(); ++i) {
      CHECK(shorter.streams[stream][i].task == expected.streams[stream][i].task);
      CHECK(shorter.streams[stream][i].after == expected.streams[stream][i].after);
      CHECK(shorter.streams[stream][i].core_s == expected.streams[stream][i].core_s);
    }
  }
}

TEST_CASE("a cut drops dependencies of other tasks on removed ones") {
  const Rings rings;
  Steps steps(rings);
  for (int i = 0; i < 12; ++i) steps.add(core, 1e-3);
  steps.add(first, 0.0, {0, 5, 11});
  const StepProgram shorter = without(steps.work(), {{{0, 1, 12}, 4, 10}});
  CHECK(shorter.streams[first].front().after == std::vector<std::uint32_t>{0, 5});
}

/// `batches` of forward and backward layers.
StepProgram batches_of(const Rings& rings, std::uint32_t batches, std::uint32_t layers,
                       double core_s) {
  Steps steps(rings);
  std::uint32_t before = steps.add(core, 1e-4);
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    steps.add(core, 3e-4, {});
    for (std::uint32_t layer = 0; layer < layers; ++layer)
      before = steps.add(second, 0.0, {steps.add(core, core_s)});
    steps.add(core, 2e-4, {before});
    for (std::uint32_t layer = 0; layer < layers; ++layer)
      before = steps.add(first, 0.0, {steps.add(core, 2.0 * core_s)});
    steps.add(core, 1e-4, {before});
  }
  return steps.work();
}

TEST_CASE("steady layers take the time of a full simulation") {
  const Rings rings;
  for (const bool apart : {false, true}) {
    const Machine machine = rings.machine(apart);
    const StepProgram work = layers_of(rings, 60, 1e-3);
    const StepTime found = cuts_for(work, machine);
    CHECK(found.time_s == full_time_s(work, machine));
    REQUIRE(found.cuts.outer.size() == 1);
    CHECK(found.cuts.outer.front().begin < 10);
    CHECK(short_time_s(work, machine, found.cuts) == Approx(found.time_s).epsilon(1e-9));
  }
}

TEST_CASE("layers are left out of microbatches, and microbatches of the step") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  const StepProgram work = batches_of(rings, 20, 40, 2e-4);
  const StepTime found = cuts_for(work, machine);
  REQUIRE(found.cuts.inner.size() == 40);
  REQUIRE(found.cuts.outer.size() == 1);
  const StepProgram shorter = without(without(work, found.cuts.inner), found.cuts.outer);
  CHECK(shorter.tasks * 10 < work.tasks);
  CHECK(short_time_s(work, machine, found.cuts) == Approx(found.time_s).epsilon(1e-9));
}

TEST_CASE("a backlog that grows with every layer is simulated in full") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  const StepProgram work = layers_of(rings, 40, 1e-6);
  const StepTime found = cuts_for(work, machine);
  CHECK(found.cuts.empty());
  CHECK(short_time_s(work, machine, found.cuts) == full_time_s(work, machine));
}

TEST_CASE("cuts of a steady step are given up for one that is not") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  const Cuts cuts = cuts_for(layers_of(rings, 40, 1e-3), machine).cuts;
  REQUIRE_FALSE(cuts.empty());
  const StepProgram work = layers_of(rings, 40, 1e-6);
  CHECK(short_time_s(work, machine, cuts) == full_time_s(work, machine));
}

TEST_CASE("cuts of one step are extended for another where they must be") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  for (const double core_s : {3e-4, 5e-5}) {
    const Cuts cuts = cuts_for(batches_of(rings, 20, 40, 1e-3), machine).cuts;
    const StepProgram work = batches_of(rings, 20, 40, core_s);
    CHECK(short_time_s(work, machine, cuts) == Approx(full_time_s(work, machine)).epsilon(kSteady));
  }
}

TEST_CASE("work beside a run prevents a cut, as it takes part in few periods only") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  Steps steps(rings);
  for (int i = 0; i < 40; ++i) steps.add(core, 1e-4);
  SECTION("started in the midst of it") { steps.add(first, 0.0, {20}); }
  SECTION("independent of it") { steps.add(host, 1e-2); }
  CHECK(cuts_for(steps.work(), machine).cuts.empty());
}

TEST_CASE("work that started before a run delays its cut") {
  const Rings rings;
  const Machine machine = rings.machine(false);
  Steps steps(rings);
  steps.add(host, 1e-3);
  for (int i = 0; i < 40; ++i) steps.add(core, 1e-4);
  const Cuts cuts = cuts_for(steps.work(), machine).cuts;
  REQUIRE(cuts.outer.size() == 1);
  CHECK(cuts.outer.front().begin > 10);
}

TEST_CASE("neither SimGrid nor machines that change with time are shortened") {
  const Rings rings;
  Machine machine = rings.machine(false);
  const StepProgram work = layers_of(rings, 20, 1e-3);
  CHECK(find_cuts(work, machine, number_of, {.engine = Engine::simgrid}).cuts.empty());
  machine.failures.push_back({0, 1.0});
  CHECK(cuts_for(work, machine).cuts.empty());
}

/// A step of random runs of layers, with tasks between them.
class RandomStep {
 public:
  RandomStep(const Rings& rings, std::uint32_t seed) : steps_(rings), random_(seed) {
    const int runs = 1 + pick(3);
    for (int run = 0; run < runs; ++run) {
      add_layers(12 + pick(30));
      std::vector<std::uint32_t> after;
      const Stream next = stream();
      add_dependency(next, last_, after);
      last_ = steps_.add(next, seconds(), after);
    }
  }

  const StepProgram& work() const { return steps_.work(); }

 private:
  struct Part {
    Stream stream;
    double seconds;
    std::vector<int> back;  ///< distances to dependencies
  };

  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }
  Stream stream() { return static_cast<Stream>(pick(4)); }
  double seconds() { return 1e-5 * (1 + pick(40)); }

  /// Adds a dependency once; within a stream, tasks are ordered anyway.
  void add_dependency(Stream stream, std::uint32_t before, std::vector<std::uint32_t>& after) {
    const auto& same = work().streams[stream];
    if (std::ranges::find(same, before, &TaskRun::task) == same.end() &&
        std::ranges::find(after, before) == after.end())
      after.push_back(before);
  }

  void add_layers(int layers) {
    std::vector<Part> parts(static_cast<std::size_t>(1 + pick(5)));
    for (Part& part : parts) {
      part = {stream(), seconds(), {}};
      for (int i = pick(3); i > 0; --i)
        part.back.push_back(1 + pick(2 * static_cast<int>(parts.size())));
    }
    for (int layer = 0; layer < layers; ++layer)
      for (const Part& part : parts) {
        std::vector<std::uint32_t> after = {};
        for (const int back : part.back)
          if (back <= static_cast<int>(work().tasks))
            add_dependency(part.stream, work().tasks - static_cast<std::uint32_t>(back), after);
        last_ = steps_.add(part.stream, part.seconds, after);
      }
  }

  Steps steps_;
  std::mt19937 random_;
  std::uint32_t last_ = steps_.add(core, 1e-5);
};

/// Calls `shortens` with random steps and their machines, and checks that it returns true for more
/// than a quarter of them.
template <typename Shortens>
void check_random_steps(const Shortens& shortens) {
  const Rings rings;
  constexpr int kSteps = 150;
  int shortened = 0;
  for (std::uint32_t seed = 0; seed < kSteps; ++seed) {
    CAPTURE(seed);
    if (shortens(RandomStep(rings, seed).work(), rings.machine(seed % 2 == 0))) ++shortened;
  }
  CHECK(shortened > kSteps / 4);
}

TEST_CASE("random steps take the time of a full simulation, and most are shortened") {
  check_random_steps([](const StepProgram& work, const Machine& machine) {
    const StepTime found = cuts_for(work, machine);
    CHECK(short_time_s(work, machine, found.cuts) == Approx(found.time_s).epsilon(kSteady));
    return !found.cuts.empty();
  });
}

TEST_CASE("steps whose chips run different tasks are never shortened") {
  const Rings rings;
  const Machine machine = rings.machine(true);
  StepProgram work = layers_of(rings, 60, 1e-3);
  CHECK(simulate_repeated(work, machine, {.engine = Engine::direct}));
  work.chip_sets = {std::vector<bool>(machine.ranks(), true)};
  for (TaskRun& run : work.streams[core]) run.chips = 0;
  CHECK_FALSE(simulate_repeated(work, machine, {.engine = Engine::direct}));
  CHECK(cuts_for(work, machine).cuts.empty());
}

TEST_CASE("random steps have all marks of a full simulation without being simulated in full") {
  check_random_steps([](const StepProgram& work, const Machine& machine) {
    const auto repeated = simulate_repeated(work, machine, {.engine = Engine::direct});
    if (!repeated) return false;
    CHECK(repeated->tasks < work.tasks);
    const TimeResult full =
        simulate(make_timelines(work, machine.ranks()), machine,
                 [](std::uint32_t, collectives::InstructionId) { return std::string(); },
                 {.engine = Engine::direct});
    CHECK(repeated->time.time_s == Approx(full.time_s).epsilon(1e-9));
    REQUIRE(repeated->time.marks_s.size() == full.marks_s.size());
    for (std::size_t mark = 0; mark < full.marks_s.size(); ++mark)
      CHECK(std::abs(repeated->time.marks_s[mark] - full.marks_s[mark]) <= 1e-9 * full.time_s);
    return true;
  });
}

}  // namespace
}  // namespace equarx::sim::repetition_test
