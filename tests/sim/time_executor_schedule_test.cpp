// Repeated runs of programs, sequential with or overlapped by other core work, and their traces.
#include <numeric>
#include <stdexcept>
#include <string>

#include "models/collectives/traffic.hpp"
#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::time_executor_schedule_test {
namespace {

using collectives::Program;
using collectives::RingStyle;
using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::quantized;
using testing::ring_machine;
using testing::UniformCosts;

constexpr double kRate = 45e9;
constexpr double kLatency = 0.4e-6;
constexpr double kRelative = 1e-9;
constexpr std::uint32_t kRanks = 4;
constexpr UniformCosts kCosts{
    .work_s = 1e-6, .send_s = 0.1e-6, .wait_s = 0.05e-6, .sync_s = 0.5e-6};

/// A program and a matching machine.
struct Setup {
  Program program;
  Machine machine;
  Costs costs;

  TimeResult run(const Schedule& schedule = {}, bool traced = false) const {
    return simulate(program, machine, costs, {.schedule = schedule, .traced = traced});
  }
};

Setup quantized_ring() {
  const Program program =
      make_ring_all_reduce(kRanks, kRanks * 2ULL * 1024 * 16, ElementFormat::bf16,
                           quantized(2, 4, RingStyle::semi_loop));
  return {program, ring_machine(kRanks, kRate, kLatency), kCosts.of(program)};
}

/// Without core time.
Setup wire_only() {
  const Program program = make_ring_all_reduce(kRanks, kRanks * 2ULL * 1024 * 16,
                                               ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  return {program, ring_machine(kRanks, kRate, kLatency), UniformCosts{}.of(program)};
}

/// With core time and nearly no link time.
Setup core_only() {
  constexpr double kEndlessRate = 1e18;
  Setup setup = wire_only();
  setup.machine = ring_machine(kRanks, kEndlessRate, 0.0);
  setup.costs = UniformCosts{.work_s = 10e-6}.of(setup.program);
  return setup;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST_CASE("sequential runs take the sum of their times and of the work in between") {
  const Setup setup = quantized_ring();
  const TimeResult once = setup.run();
  for (const std::vector<double>& compute_s :
       {std::vector<double>{0.0, 0.0}, {3e-6, 0.0}, {0.0, 3e-6}, {5e-6, 0.0, 2e-6, 7e-6}}) {
    CAPTURE(compute_s);
    const TimeResult result = setup.run({.compute_s = compute_s});
    const std::size_t runs = compute_s.size() - 1;
    CHECK(result.time_s == Approx(runs * once.time_s + sum(compute_s)).epsilon(kRelative));
    CHECK(result.messages == runs * once.messages);
    for (std::size_t link = 0; link < once.link_bytes.size(); ++link) {
      CHECK(result.link_bytes[link] == runs * once.link_bytes[link]);
      CHECK(result.link_busy_s[link] == Approx(runs * once.link_busy_s[link]).epsilon(kRelative));
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank)
      CHECK(result.core_busy_s[rank] ==
            Approx(runs * once.core_busy_s[rank] + sum(compute_s)).epsilon(kRelative));
  }
}

TEST_CASE("a schedule of a single run equals the program") {
  const Setup setup = quantized_ring();
  CHECK(setup.run({.compute_s = {0.0, 0.0}}) == setup.run());
}

TEST_CASE("a schedule without a run is rejected") {
  const Setup setup = wire_only();
  CHECK_THROWS_AS(make_timelines(setup.program, setup.costs, kRanks, {.compute_s = {1.0}}),
                  std::logic_error);
}

TEST_CASE("other work takes longer on a slow chip, and the others wait for it") {
  Setup setup = wire_only();
  const double once_s = setup.run().time_s;
  setup.machine.slowdown = {1.0, 3.0, 1.0, 1.0};
  const TimeResult result = setup.run({.compute_s = {10e-6, 0.0}});
  const std::vector<double> expected_s = {10e-6, 30e-6, 10e-6, 10e-6};
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    CHECK(result.core_busy_s[rank] == Approx(expected_s[rank]).epsilon(kRelative));
  CHECK(result.time_s > 30e-6);
  CHECK(result.time_s <= (30e-6 + once_s) * (1.0 + kRelative));
}

TEST_CASE("representative chips reproduce the timing of a schedule") {
  const Setup all = quantized_ring();
  const Machine few =
      representative(all.program, {"", kRate, kLatency}, ring_machine(kRanks, 1.0, 0.0).dma_queue);
  for (const std::uint32_t overlap : {0U, 2U}) {
    const Schedule schedule{.compute_s = {4e-6, 1e-6, 20e-6, 0.0, 3e-6}, .overlap = overlap};
    CAPTURE(overlap);
    CHECK(simulate(all.program, few, all.costs, {.schedule = schedule}).time_s ==
          Approx(all.run(schedule).time_s).epsilon(kRelative));
  }
}

TEST_CASE("a run that must end before the next work has no overlap") {
  const Setup setup = quantized_ring();
  const std::vector<double> compute_s = {5e-6, 2e-6, 9e-6, 7e-6};
  CHECK(setup.run({.compute_s = compute_s, .overlap = 1}).time_s ==
        Approx(setup.run({.compute_s = compute_s}).time_s).epsilon(kRelative));
}

TEST_CASE("runs without core time overlap other work like a two-machine flow shop") {
  // Each run needs the work before it; each machine processes one job at a time.
  const Setup setup = wire_only();
  const double run_s = setup.run().time_s;
  constexpr double kLast = 1e-6;
  constexpr std::uint32_t kRuns = 5;
  for (const double work_s : {0.3 * run_s, run_s, 2.5 * run_s}) {
    std::vector<double> compute_s(kRuns, work_s);
    compute_s.push_back(kLast);
    const double expected = work_s + (kRuns - 1) * std::max(work_s, run_s) + run_s + kLast;
    CAPTURE(work_s, run_s);
    CHECK(setup.run({.compute_s = compute_s, .overlap = kRuns}).time_s ==
          Approx(expected).epsilon(kRelative));
  }
}

TEST_CASE("overlapped time is bounded by the busier of core and links and by the sequential time") {
  const Setup setup = quantized_ring();
  const TimeResult once = setup.run();
  for (const double work_s : {0.1 * once.time_s, once.time_s, 4.0 * once.time_s})
    for (const std::uint32_t overlap : {2U, 3U, 8U}) {
      const std::vector<double> compute_s = {work_s, work_s, work_s, work_s, work_s, work_s, 1e-6};
      const double runs = static_cast<double>(compute_s.size()) - 1.0;
      const double core_s = runs * once.core_busy_s[0] + sum(compute_s);
      const double wire_s = runs * *std::ranges::max_element(once.link_busy_s);
      const double time_s = setup.run({.compute_s = compute_s, .overlap = overlap}).time_s;
      CAPTURE(work_s, overlap);
      CHECK(time_s >= std::max(core_s, wire_s) * (1.0 - kRelative));
      CHECK(time_s <= (runs * once.time_s + sum(compute_s)) * (1.0 + kRelative));
    }
}

TEST_CASE("other work and an overlapped run share the core fairly and without idle time") {
  const Setup setup = core_only();
  const double run_s = setup.run().time_s;
  const double work_s = 0.25 * run_s;
  // The first run begins immediately; it and the work advance at half speed.
  const TimeResult result =
      setup.run({.compute_s = {0.0, work_s, 0.0}, .overlap = 2}, /*traced=*/true);
  CHECK(result.time_s == Approx(2.0 * run_s + work_s).epsilon(1e-4));
  for (const CoreEvent& event : result.trace.core)
    if (event.work == CoreWork::other && event.end_s > event.start_s)
      CHECK(event.end_s - event.start_s == Approx(2.0 * work_s).epsilon(1e-4));
}

TEST_CASE("tracing does not affect the time") {
  for (const Setup& setup : {quantized_ring(), wire_only()})
    for (const Schedule& schedule :
         {Schedule{}, Schedule{.compute_s = {3e-6, 2e-6, 4e-6}},
          Schedule{.compute_s = {3e-6, 2e-6, 9e-6, 4e-6}, .overlap = 2}}) {
      TimeResult traced = setup.run(schedule, true);
      const TimeResult untraced = setup.run(schedule);
      CAPTURE(schedule.compute_s);
      CHECK(traced.time_s == Approx(untraced.time_s).epsilon(kRelative));
      CHECK(traced.messages == untraced.messages);
      CHECK(traced.link_bytes == untraced.link_bytes);
      CHECK(untraced.trace == Trace{});
      CHECK_FALSE(traced.trace == Trace{});
    }
}

TEST_CASE("core events of a trace are disjoint and add up to the busy time of cores") {
  const Setup setup = quantized_ring();
  const TimeResult result = setup.run({.compute_s = {3e-6, 2e-6, 4e-6}}, true);
  std::vector<double> busy_s(kRanks);
  std::vector<double> until_s(kRanks);
  double other_s = 0.0;
  for (const CoreEvent& event : result.trace.core) {
    CHECK(event.start_s >= until_s[event.rank]);
    CHECK(event.end_s <= result.time_s);
    until_s[event.rank] = event.end_s;
    busy_s[event.rank] += event.end_s - event.start_s;
    if (event.work == CoreWork::other) other_s += event.end_s - event.start_s;
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    CHECK(busy_s[rank] == Approx(result.core_busy_s[rank]).epsilon(kRelative));
  CHECK(other_s == Approx(kRanks * 9e-6).epsilon(kRelative));
}

TEST_CASE("a trace contains every transfer, and none arrives earlier than its link allows") {
  const Setup setup = quantized_ring();
  const TimeResult result = setup.run({.compute_s = {0.0, 1e-6, 0.0}}, true);
  CHECK(result.trace.transfers.size() == result.messages);
  CHECK(result.messages == 2 * collectives::total_messages(setup.program, kRanks));
  double bytes = 0.0;
  for (const TransferEvent& event : result.trace.transfers) {
    const auto size = static_cast<double>(setup.program.message_bytes(event.message));
    CHECK(event.arrived_s - event.sent_s >= (kLatency + size / kRate) * (1.0 - kRelative));
    CHECK(event.arrived_s <= result.time_s * (1.0 + kRelative));
    CHECK(event.sender != event.receiver);
    bytes += size;
  }
  CHECK(bytes == static_cast<double>(std::accumulate(result.link_bytes.begin(),
                                                     result.link_bytes.end(), std::uint64_t{0})));
}

}  // namespace
}  // namespace equarx::sim::time_executor_schedule_test
