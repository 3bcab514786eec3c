#include "sim/engines/direct/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/step_program.hpp"
#include "sim/symmetry.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::jumps_test {
namespace {

using collectives::RingStyle;
using testing::UniformCosts;

/// Two AllReduces of many minishards along rings, which may share their links.
struct Rings {
  collectives::Program large;
  collectives::Program small;
  Costs large_costs;
  Costs small_costs;
  Machine machine;

  explicit Rings(std::mt19937& random)
      : large(ring(random, 40)),
        small(ring(random, 12)),
        large_costs(costs(random).of(large)),
        small_costs(costs(random).of(small)) {
    std::vector<std::uint64_t> peers;
    const std::uint64_t apart = random() % 2 * 100;
    for (const collectives::Channel& channel : large.channels) peers.push_back(channel.offset);
    for (const collectives::Channel& channel : small.channels)
      peers.push_back(channel.offset + apart);
    machine = representative(peers, {"link", 45e9, 1e-6 * (random() % 3)}, 1 + random() % 16);
  }

  static collectives::Program ring(std::mt19937& random, std::uint32_t least) {
    const auto minishards = static_cast<std::uint32_t>(least + random() % 40);
    const auto microshards = static_cast<std::uint32_t>(1 + random() % 3);
    constexpr std::uint32_t kRanks = 16;
    return testing::make_ring_all_reduce(
        kRanks, std::uint64_t{kRanks} * 2048 * minishards * microshards,
        numerics::ElementFormat::bf16,
        testing::quantized(minishards, microshards,
                           random() % 2 == 0 ? RingStyle::full_loop : RingStyle::semi_loop));
  }
  static UniformCosts costs(std::mt19937& random) {
    return {.work_s = 1e-8 * (random() % 30), .send_s = 1e-8 * (random() % 10), .wait_s = 1e-8};
  }

  /// Programs on separate streams, concurrent with computations, in rounds. Most rounds have only one of them.
  StepProgram work(std::mt19937& random) const {
    StepProgram work{.programs = {{&large, &large_costs}, {&small, &small_costs}}, .streams = {}};
    work.streams.resize(3);
    for (std::uint32_t round = 0; round < 3; ++round) {
      const std::uint32_t first = work.tasks;
      const double core_s = 1e-5 * static_cast<double>(random() % 100);
      work.streams[0].push_back({.task = first, .core_s = core_s});
      work.streams[1].push_back({.task = first + 1, .program = 0});
      work.streams[2].push_back({.task = first + 2, .program = 1});
      if (random() % 2 == 0) work.streams[2].back().after = {first};
      if (random() % 4 != 0) work.streams[random() % 3 == 0 ? 1 : 2].back().program.reset();
      if (random() % 2 == 0) work.streams[1].back().host_s = core_s / 3;
      work.tasks += 3;
    }
    return work;
  }
};

TimeResult run(const StepProgram& work, const Machine& machine, SimulationOptions options = {}) {
  options.engine = Engine::direct;
  return simulate(
      make_timelines(work, machine.ranks()), machine,
      [](std::uint32_t, std::uint32_t task) { return std::to_string(task); }, options);
}

/// True if each of `times` is within 1e-9 of its own in `full`, or within `margin_s`. One comparison for all: thousands
/// of assertions take longer than the simulations.
bool are_close(const std::vector<double>& times, const std::vector<double>& full,
               double margin_s = 1e-15) {
  return std::ranges::equal(times, full, [&](double one_s, double other_s) {
    return std::abs(one_s - other_s) <= margin_s + 1e-9 * std::abs(other_s);
  });
}

/// A member of all waits.
std::vector<double> waits_of(const TimeResult& result, double Waits::*member) {
  std::vector<double> waits;
  for (const Waits& each : result.waits) waits.push_back(each.*member);
  return waits;
}

/// Equal but for the rounding of times.
void check_same(const TimeResult& one, const TimeResult& full) {
  CHECK(are_close({one.time_s}, {full.time_s}));
  CHECK(one.messages == full.messages);
  CHECK(one.link_bytes == full.link_bytes);
  CHECK(are_close(one.marks_s, full.marks_s));
  CHECK(are_close(one.link_busy_s, full.link_busy_s));
  CHECK(are_close(one.core_busy_s, full.core_busy_s));
  for (double Waits::*const member : {&Waits::links_s, &Waits::senders_s, &Waits::queue_s})
    CHECK(are_close(waits_of(one, member), waits_of(full, member), 1e-9 * full.time_s));
}

TEST_CASE("random steps with jumps have the times and sums of a simulation in full") {
  int jumped = 0;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Rings rings(random);
    const StepProgram work = rings.work(random);
    const TimeResult full = run(work, rings.machine);
    const TimeResult short_run = run(work, rings.machine, {.jumps = true});
    CHECK(full.jumped == 0);
    CHECK(short_run.jumped < full.messages);
    if (short_run.jumped > full.messages / 10) ++jumped;
    check_same(short_run, full);
  }
  CHECK(jumped > 15);
}

TEST_CASE("one chip of each class has the times and sums of all, with and without jumps") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Rings rings(random);
    if (seed % 3 == 0) add_hbm(100e9, rings.machine);
    const StepProgram work = rings.work(random);
    const auto classes =
        by_class(rings.machine, chip_kinds(make_timelines(work, rings.machine.ranks())));
    REQUIRE(classes);
    CHECK(classes->machine.ranks() == 1);
    const TimeResult full = run(work, rings.machine);
    check_same(run(work, rings.machine, {.by_class = classes}), full);
    check_same(run(work, rings.machine, {.by_class = classes, .jumps = true}), full);
  }
}

TEST_CASE("nothing is passed over with a trace, failures, shared links or HBMs, or one stream") {
  std::mt19937 random(3);
  const Rings rings(random);
  StepProgram work = rings.work(random);
  REQUIRE(run(work, rings.machine, {.jumps = true}).jumped > 0);
  const TimeResult traced = run(work, rings.machine, {.traced = true, .jumps = true});
  CHECK(traced.jumped == 0);
  CHECK(traced.trace.transfers.size() == traced.messages);
  Machine failing = rings.machine;
  failing.failures = {{0, 1e9}};
  CHECK(run(work, failing, {.jumps = true}).jumped == 0);
  Machine with_hbm = rings.machine;
  add_hbm(1e12, with_hbm);
  CHECK(run(work, with_hbm, {.jumps = true}).jumped == 0);
  work.streams = {work.streams[1]};
  CHECK(run(work, rings.machine, {.jumps = true}).jumped == 0);
}

}  // namespace
}  // namespace equarx::sim::jumps_test
