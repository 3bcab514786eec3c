#include "sim/step_program.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "models/collectives/traffic.hpp"
#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::step_program_test {
namespace {

using collectives::Program;
using collectives::Rank;
using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::UniformCosts;

constexpr double kRate = 45e9;
constexpr std::uint32_t kSide = 4;  // side of a square torus of chips
constexpr std::uint32_t kChips = kSide * kSide;

enum class Axis : std::uint8_t { x, y };

/// An AllReduce along every row, or every column, of the square.
struct Groups {
  Program program;
  Costs costs;
  Axis axis;

  Groups(Axis along, std::uint64_t elements, const UniformCosts& each = {})
      : program(make_ring_all_reduce(kSide, elements, ElementFormat::bf16,
                                     plain(ElementFormat::bf16, 1))),
        costs(each.of(program)),
        axis(along) {}

  Rank rank_of(std::uint32_t chip) const { return axis == Axis::x ? chip % kSide : chip / kSide; }
  std::uint32_t chip_at(std::uint32_t chip, Rank rank) const {
    return axis == Axis::x ? chip - chip % kSide + rank : chip % kSide + rank * kSide;
  }
  PlacedProgram placed() const {
    PlacedProgram placed{&program, &costs};
    for (std::uint32_t chip = 0; chip < kChips; ++chip)
      placed.rank_of_chip.push_back(rank_of(chip));
    return placed;
  }
  double isolated_s() const {
    return simulate(program, testing::ring_machine(kSide, kRate, 0.0), costs).time_s;
  }
};

/// A torus with the concatenated channels of the groups.
Machine torus(const std::vector<const Groups*>& all, double latency = 0.0) {
  Machine machine;
  machine.dma_queue = 16;
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    machine.chip_names.push_back("chip " + std::to_string(chip));
    auto& out_ports = machine.out_ports.emplace_back();
    for (const Groups* groups : all)
      for (const collectives::Channel& channel : groups->program.channels) {
        const Rank rank = groups->program.grid().move(groups->rank_of(chip), channel.offset);
        const std::uint32_t peer = groups->chip_at(chip, rank);
        const auto same = std::ranges::find(out_ports, peer, &OutPort::peer);
        if (same != out_ports.end()) {
          out_ports.push_back(OutPort(*same));
          continue;
        }
        out_ports.push_back({peer, {static_cast<LinkIndex>(machine.links.size())}});
        machine.links.push_back({"link " + std::to_string(machine.links.size()), kRate, latency});
      }
  }
  return machine;
}

/// Representative chips of the same machine: a peer is identified by its axis and offset.
Machine few(const std::vector<const Groups*>& all, double latency = 0.0) {
  std::vector<std::uint64_t> peers;
  for (const Groups* groups : all)
    for (const collectives::Channel& channel : groups->program.channels)
      peers.push_back(static_cast<std::uint64_t>(groups->axis) * 100 + channel.offset);
  return representative(peers, {"link", kRate, latency}, 16);
}

TimeResult run(const StepProgram& work, const Machine& machine, Engine engine = Engine::direct) {
  const auto task = [](std::uint32_t, std::uint32_t number) {
    return "task " + std::to_string(number);
  };
  return simulate(make_timelines(work, machine.ranks()), machine, task, {.engine = engine});
}

/// Simulates all chips and the representative chips with both engines.
double time_of(StepProgram work, const std::vector<const Groups*>& all, double latency = 0.0) {
  for (const Groups* groups : all) work.programs.push_back(groups->placed());
  const Machine machine = torus(all, latency);
  const TimeResult direct = run(work, machine);
  const TimeResult simgrid = run(work, machine, Engine::simgrid);
  CHECK(simgrid.time_s == Approx(direct.time_s).epsilon(1e-6));
  for (std::size_t mark = 0; mark < direct.marks_s.size(); ++mark)
    CHECK(simgrid.marks_s[mark] == Approx(direct.marks_s[mark]).epsilon(1e-6));
  CHECK(simgrid.messages == direct.messages);
  for (PlacedProgram& placed : work.programs) placed.rank_of_chip.clear();
  CHECK(run(work, few(all, latency)).time_s == Approx(direct.time_s).epsilon(1e-6));
  return direct.time_s;
}

constexpr std::uint64_t kElements = 1 << 20;
const UniformCosts kBusy{.work_s = 2e-6, .send_s = 0.1e-6, .wait_s = 0.05e-6};

TEST_CASE("a chain of compute tasks and collectives takes the sum of their times") {
  const Groups x(Axis::x, kElements, kBusy);
  const double time_s =
      time_of({.streams = {{{.task = 0, .core_s = 1e-3}, {.task = 2, .after = {1}, .core_s = 2e-3}},
                           {{.task = 1, .after = {0}, .program = 0}}},
               .tasks = 3},
              {&x});
  CHECK(time_s == Approx(3e-3 + x.isolated_s()).epsilon(1e-6));
}

TEST_CASE("a collective without core time is fully overlapped by compute") {
  const Groups x(Axis::x, kElements);
  const double isolated_s = x.isolated_s();
  for (const double core_s : {0.5 * isolated_s, 2.0 * isolated_s}) {
    CAPTURE(core_s);
    const double time_s = time_of(
        {.streams = {{{.task = 0, .core_s = core_s}}, {{.task = 1, .program = 0}}}, .tasks = 2},
        {&x});
    CHECK(time_s == Approx(std::max(core_s, isolated_s)).epsilon(1e-6));
  }
}

TEST_CASE("core time of a collective slows down overlapped compute") {
  const Groups x(Axis::x, kElements, kBusy);
  const Groups free(Axis::x, kElements);
  double core_s = 0.0;
  for (const double each : x.costs.core_s) core_s += each;
  REQUIRE(core_s > 10e-6);
  const double compute_s = 4.0 * x.isolated_s();  // long enough to overlap it
  const double time_s = time_of(
      {.streams = {{{.task = 0, .core_s = compute_s}}, {{.task = 1, .program = 0}}}, .tasks = 2},
      {&x});
  CHECK(time_s == Approx(compute_s + core_s).epsilon(1e-6));
}

TEST_CASE("collectives on different axes do not interfere") {
  const Groups x(Axis::x, kElements);
  const Groups y(Axis::y, kElements / 2);
  const double time_s =
      time_of({.streams = {{{.task = 0, .program = 0}}, {{.task = 1, .program = 1}}}, .tasks = 2},
              {&x, &y});
  CHECK(time_s == Approx(x.isolated_s()).epsilon(1e-6));
}

TEST_CASE("collectives on one axis share its links") {
  const Groups one(Axis::x, kElements);
  const Groups other(Axis::x, kElements);
  const double both_s = 2.0 * one.isolated_s();
  SECTION("sequentially in one stream") {
    CHECK(time_of({.streams = {{{.task = 0, .program = 0}, {.task = 1, .program = 1}}}, .tasks = 2},
                  {&one, &other}) == Approx(both_s).epsilon(1e-6));
  }
  SECTION("concurrently in two streams") {
    CHECK(
        time_of({.streams = {{{.task = 0, .program = 0}}, {{.task = 1, .program = 1}}}, .tasks = 2},
                {&one, &other}) == Approx(both_s).epsilon(1e-6));
  }
  SECTION("the same program twice") {
    CHECK(time_of({.streams = {{{.task = 0, .program = 0}, {.task = 1, .program = 0}}}, .tasks = 2},
                  {&one}) == Approx(both_s).epsilon(1e-6));
  }
}

TEST_CASE("a host transfer uses neither core nor links") {
  const Groups x(Axis::x, kElements, kBusy);
  const double isolated_s = x.isolated_s();
  const double time_s =
      time_of({.streams = {{{.task = 0, .program = 0}}, {{.task = 1, .host_s = 1.5 * isolated_s}}},
               .tasks = 2},
              {&x});
  CHECK(time_s == Approx(1.5 * isolated_s).epsilon(1e-6));
}

TEST_CASE("marks record when a task became ready and when it ended") {
  const Groups x(Axis::x, kElements);
  StepProgram work{
      .programs = {x.placed()},
      .streams = {{{.task = 0, .core_s = 1e-3}}, {{.task = 1, .after = {0}, .program = 0}}},
      .tasks = 2};
  const TimeResult result = run(work, torus({&x}));
  REQUIRE(result.marks_s.size() == std::size_t{kChips} * 4);
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    const double* marks = &result.marks_s[chip * 4];
    CHECK(marks[start_mark(0)] == 0.0);
    CHECK(marks[end_mark(0)] == Approx(1e-3));
    CHECK(marks[start_mark(1)] == Approx(1e-3));
    CHECK(marks[end_mark(1)] == Approx(1e-3 + x.isolated_s()).epsilon(1e-6));
  }
}

TEST_CASE("streams share HBM with each other and with compute") {
  const Groups x(Axis::x, kElements);
  StepProgram work{.programs = {x.placed()},
                   .streams = {{{.task = 0, .with_hbm = {{1'000'000, 1e-6}}}},
                               {{.task = 1, .with_hbm = {{1'000'000, 3e-6}}}}},
                   .tasks = 2};
  Machine machine = torus({&x});
  add_hbm(1e12, machine);
  for (const Engine engine : {Engine::direct, Engine::simgrid}) {
    const TimeResult result = run(work, machine, engine);
    CHECK(result.time_s == Approx(4e-6).epsilon(1e-6));  // shared core time exceeds the 2 us of HBM
    CHECK(result.link_bytes[machine.hbm[3]] == 2'000'000);
  }
}

TEST_CASE("HBM is accessed once work has started") {
  const Groups x(Axis::x, kElements);
  StepProgram work{
      .programs = {x.placed()},
      .streams = {{{.task = 0, .with_hbm = {{5'000'000, 3e-6, 1e-6}, {1'000'000, 3e-6, 2e-6}}}}},
      .tasks = 1};
  Machine machine = torus({&x});
  add_hbm(1e12, machine);
  for (const Engine engine : {Engine::direct, Engine::simgrid})
    CHECK(run(work, machine, engine).time_s == Approx(6e-6 + 5e-6).epsilon(1e-6));
}

TEST_CASE("work with 0 HBM bytes takes its core time") {
  const Groups x(Axis::x, kElements);
  StepProgram work{
      .programs = {x.placed()},
      .streams = {{{.task = 0, .with_hbm = {{0, 1e-6}, {1'000'000, 3e-6}, {0, 2e-6}}}}},
      .tasks = 1};
  Machine machine = torus({&x});
  add_hbm(1e12, machine);
  for (const Engine engine : {Engine::direct, Engine::simgrid}) {
    const TimeResult result = run(work, machine, engine);
    CHECK(result.time_s == Approx(6e-6).epsilon(1e-6));
    CHECK(result.core_busy_s[0] == Approx(6e-6).epsilon(1e-6));
  }
}

TEST_CASE("bytes and messages add up over concurrent runs") {
  const Groups x(Axis::x, kElements);
  const Groups y(Axis::y, kElements);
  StepProgram work{.programs = {x.placed(), y.placed()},
                   .streams = {{{.task = 0, .program = 0}, {.task = 1, .program = 0}},
                               {{.task = 2, .program = 1}}},
                   .tasks = 3};
  const TimeResult result = run(work, torus({&x, &y}));
  CHECK(result.messages == 3 * kSide * collectives::total_messages(x.program, kSide));
}

TEST_CASE("a deadlock is reported with chips and tasks") {
  const Groups x(Axis::x, kElements);
  StepProgram work{.programs = {x.placed()},
                   .streams = {{{.task = 0, .after = {1}, .core_s = 1e-3}},
                               {{.task = 1, .after = {0}, .program = 0}}},
                   .tasks = 2};
  for (const Engine engine : {Engine::direct, Engine::simgrid})
    CHECK_THROWS_WITH(run(work, torus({&x}), engine),
                      Catch::Contains("deadlocked") && Catch::Contains("at: task 0 and task 1"));
}

TEST_CASE("invalid step programs are rejected") {
  const Groups x(Axis::x, kElements);
  StepProgram twice{.programs = {x.placed()},
                    .streams = {{{.task = 0, .program = 0}}, {{.task = 1, .program = 0}}},
                    .tasks = 2};
  CHECK_THROWS_AS(make_timelines(twice, kChips), std::logic_error);
  StepProgram nobody{.streams = {{{.task = 0, .after = {1}, .core_s = 1.0}}}, .tasks = 2};
  CHECK_THROWS_AS(make_timelines(nobody, kChips), std::logic_error);
}

}  // namespace
}  // namespace equarx::sim::step_program_test
