#include "sim/one_stream.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/symmetry.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::one_stream_test {
namespace {

using numerics::ElementFormat;
using testing::UniformCosts;

std::string number_of(std::uint32_t, std::uint32_t task) { return "task " + std::to_string(task); }

/// Two AllReduces on the same rings, with the representative chips of both.
struct Rings {
  collectives::Program plain = testing::make_ring_all_reduce(
      4, 1 << 16, ElementFormat::bf16, testing::plain(ElementFormat::bf16, 3));
  collectives::Program quantized = testing::make_ring_all_reduce(
      4, 1 << 18, ElementFormat::bf16, testing::quantized(3, 4, collectives::RingStyle::semi_loop));
  Costs plain_costs = UniformCosts{.work_s = 2e-6, .send_s = 0.13e-6, .wait_s = 0.05e-6}.of(plain);
  Costs quantized_costs =
      UniformCosts{.work_s = 1.1e-6, .send_s = 0.1e-6, .wait_s = 0.07e-6, .sync_s = 0.3e-6}.of(
          quantized);

  std::vector<PlacedProgram> programs() const {
    return {{&plain, &plain_costs}, {&quantized, &quantized_costs}};
  }
  Machine machine(std::uint32_t queue = 2) const {
    std::vector<std::uint64_t> peers;
    for (const collectives::Program* program : {&plain, &quantized})
      for (const collectives::Channel& channel : program->channels) peers.push_back(channel.offset);
    return representative(peers, {"link", 45e9, 1e-6}, queue);
  }
};

/// Tasks that follow each other, on random streams. A program stays on its stream.
StepProgram chain(const Rings& rings, std::uint32_t tasks, std::mt19937& random) {
  StepProgram work{.programs = rings.programs(), .streams = {{}, {}, {}}, .tasks = tasks};
  std::uint32_t before = 0;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const std::uint32_t kind = static_cast<std::uint32_t>(random() % 4);
    const std::uint32_t stream = kind < 2 ? kind + 1 : static_cast<std::uint32_t>(random() % 3);
    TaskRun run{.task = task};
    if (kind < 2)
      run.program = kind;
    else
      (kind == 2 ? run.core_s : run.host_s) = 1e-6 * static_cast<double>(random() % 100);
    if (task > 0 && stream != before) run.after = {task - 1};
    if (task > 2 && random() % 2 == 0) run.after.push_back(task - 2);  // redundant
    work.streams[stream].push_back(run);
    before = stream;
  }
  return work;
}

void check_equal(const TimeResult& one, const TimeResult& other) {
  CHECK(one.time_s == other.time_s);
  CHECK(one.marks_s == other.marks_s);
  CHECK(one.messages == other.messages);
  CHECK(one.link_bytes == other.link_bytes);
  CHECK(one.core_busy_s == other.core_busy_s);
  for (std::size_t rank = 0; rank < one.waits.size(); ++rank) {
    CHECK(one.waits[rank].links_s == Approx(other.waits[rank].links_s).epsilon(1e-9).margin(1e-15));
    CHECK(one.waits[rank].senders_s ==
          Approx(other.waits[rank].senders_s).epsilon(1e-9).margin(1e-15));
    CHECK(one.waits[rank].queue_s == Approx(other.waits[rank].queue_s).epsilon(1e-9).margin(1e-15));
  }
}

TEST_CASE("tasks in a chain take bit for bit the same times on one stream") {
  const Rings rings;
  std::mt19937 random(7);
  for (const std::uint32_t queue : {1U, 2U, 16U}) {
    Machine machine = rings.machine(queue);
    for (int i = 0; i < 20; ++i) {
      const StepProgram work = chain(rings, 1 + static_cast<std::uint32_t>(random() % 30), random);
      if (i % 2 == 1)
        for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank)
          machine.slowdown.assign(machine.ranks(), 1.25);
      const TimeResult several = simulate(make_timelines(work, machine.ranks()), machine, number_of,
                                          {.engine = Engine::direct});
      REQUIRE(in_one_stream(work));
      CHECK(in_one_stream(work)->streams.size() == 1);
      check_equal(simulate(work, machine, number_of, {.engine = Engine::direct}), several);
    }
  }
}

TEST_CASE("one chip of each class takes the same times on one stream") {
  const Rings rings;
  std::mt19937 random(8);
  const Machine machine = rings.machine();
  const auto classes = by_class(machine, std::vector<std::uint32_t>(machine.ranks()));
  const StepProgram work = chain(rings, 25, random);
  check_equal(simulate(work, machine, number_of, {.engine = Engine::direct, .by_class = classes}),
              simulate(make_timelines(work, machine.ranks()), machine, number_of,
                       {.engine = Engine::direct}));
}

TEST_CASE("tasks that may overlap stay on their streams") {
  const auto step = [](std::vector<TaskRun> one, std::vector<TaskRun> other) {
    const auto tasks = static_cast<std::uint32_t>(one.size() + other.size());
    return StepProgram{.streams = {std::move(one), std::move(other)}, .tasks = tasks};
  };
  CHECK(in_one_stream(step({{.task = 0}, {.task = 2, .after = {1}}}, {{.task = 1, .after = {0}}})));
  CHECK_FALSE(in_one_stream(step({{.task = 0}}, {{.task = 1}})));
  CHECK_FALSE(in_one_stream(step({{.task = 0}, {.task = 2}}, {{.task = 1, .after = {0}}})));
  CHECK_FALSE(in_one_stream(step({{.task = 0, .after = {1}}}, {{.task = 1, .after = {0}}})));
  CHECK_FALSE(in_one_stream({.streams = {{{.task = 0}}}, .tasks = 1}));
}

TEST_CASE("steps whose chips differ, or with sends apart from waits, stay on their streams") {
  StepProgram work{.streams = {{{.task = 0}}, {{.task = 1, .after = {0}}}}, .tasks = 2};
  REQUIRE(in_one_stream(work));
  work.streams[1][0].part = ProgramPart::sends;
  CHECK_FALSE(in_one_stream(work));
  work.streams[1][0].part = ProgramPart::all;
  work.chip_sets = {{true, false}};
  CHECK_FALSE(in_one_stream(work));
}

TEST_CASE("steps in a chain keep a trace, and failures of links, on several streams") {
  const Rings rings;
  std::mt19937 random(9);
  Machine machine = rings.machine();
  const StepProgram work = chain(rings, 20, random);
  const Timelines timelines = make_timelines(work, machine.ranks());
  const SimulationOptions traced{.traced = true, .engine = Engine::direct};
  CHECK(simulate(work, machine, number_of, traced).trace.core.size() ==
        simulate(timelines, machine, number_of, traced).trace.core.size());
  machine.failures = {{0, 5e-6}};
  const SimulationOptions options{.engine = Engine::direct};
  const TimeResult failed = simulate(work, machine, number_of, options);
  const TimeResult expected = simulate(timelines, machine, number_of, options);
  REQUIRE(failed.failure.has_value() == expected.failure.has_value());
  CHECK(failed.time_s == expected.time_s);
}

}  // namespace
}  // namespace equarx::sim::one_stream_test
