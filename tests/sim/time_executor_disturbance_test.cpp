// time_executor with slow chips and links, and with link failures.
#include <algorithm>
#include <random>
#include <vector>

#include "models/collectives/exchange_program.hpp"
#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::time_executor_disturbance_test {
namespace {

using collectives::make_one_shot_all_reduce;
using collectives::make_ring_program;
using collectives::MessageId;
using collectives::Program;
using collectives::RankGrid;
using collectives::RingStyle;
using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::quantized;
using testing::ring_machine;
using testing::torus_machine;
using testing::UniformCosts;

constexpr double kRate = 50e9;
constexpr double kLatency = 0.4e-6;
constexpr double kRelative = 1e-6;
constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kElements = 2ULL * kRanks * 64 * 1024;
constexpr double kHop = kLatency + 2.0 * 64 * 1024 / kRate;  // one step of the ring below

Program ring_program() {
  return make_ring_all_reduce(kRanks, kElements, ElementFormat::bf16,
                              plain(ElementFormat::bf16, 1));
}

/// Link used by a rank of ring_machine() in a channel.
LinkIndex link_of(std::uint32_t rank, std::uint32_t channel) { return 2 * rank + channel; }

TimeResult run(const Program& program, const Machine& machine, const UniformCosts& costs = {}) {
  return simulate(program, machine, costs.of(program));
}

/// The message of a channel in a step of ring_program().
MessageId message_of(const Program& program, std::uint32_t channel, std::uint32_t step) {
  for (MessageId id = 0; id < program.messages.size(); ++id)
    if (program.messages[id].channel == channel && step-- == 0) return id;
  FAIL("no such message");
  return 0;
}

// --- Failures

TEST_CASE("a link failure during a transfer ends the run and is reported in the result") {
  const Program program = ring_program();
  for (const std::uint32_t rank : {0U, 2U})
    for (const std::uint32_t channel : {0U, 1U})
      for (const std::uint32_t step : {0U, 2U, 5U}) {
        CAPTURE(rank, channel, step);
        Machine machine = ring_machine(kRanks, kRate, kLatency);
        const double at = (step + 0.5) * kHop;
        machine.failures = {{link_of(rank, channel), at}};
        const TimeResult result = run(program, machine);
        REQUIRE(result.failure.has_value());
        // A core waits for the forward message before the backward one.
        const double noticed = channel == 0 ? at : (step + 1) * kHop;
        CHECK(result.failure->time_s == Approx(noticed).epsilon(kRelative));
        CHECK(result.time_s == result.failure->time_s);
        CHECK(result.failure->sender == rank);
        CHECK(result.failure->receiver == machine.out_ports[rank][channel].peer);
        CHECK(result.failure->link == link_of(rank, channel));
        CHECK(result.failure->message == message_of(program, channel, step));
        CHECK(result.messages < kRanks * program.messages.size());
      }
}

TEST_CASE("a link that is down from the start fails at its first transfer") {
  const Program program = ring_program();
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  machine.failures = {{link_of(1, 0), 0.0}};
  const TimeResult result = run(program, machine);
  REQUIRE(result.failure.has_value());
  CHECK(result.failure->time_s < 1e-9);
  CHECK(result.failure->sender == 1);
  CHECK(result.failure->receiver == 2);
  CHECK(result.failure->link == link_of(1, 0));
  CHECK(result.failure->message == message_of(program, 0, 0));
  CHECK(result.messages == 0);
}

TEST_CASE("a link failure between two transfers ends the run when the next one starts") {
  // Cores take one hop time between arrival and the next send, while all links are idle.
  const Program program = ring_program();
  const UniformCosts costs{.work_s = kHop};
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  machine.failures = {{link_of(2, 0), 1.5 * kHop}};
  const TimeResult result = run(program, machine, costs);
  REQUIRE(result.failure.has_value());
  CHECK(result.failure->time_s > 1.9 * kHop);
  CHECK(result.failure->time_s < 3.5 * kHop);
  CHECK(result.failure->sender == 2);
  CHECK(result.failure->link == link_of(2, 0));
  CHECK(result.failure->message == message_of(program, 0, 1));
}

TEST_CASE("a link failure after the last transfer has no effect") {
  const Program program = ring_program();
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  const TimeResult whole = run(program, machine);
  for (const double later : {1e-9, 1e-6, 1.0}) {
    machine.failures = {{link_of(2, 0), whole.time_s + later}};
    CHECK(run(program, machine) == whole);
  }
}

TEST_CASE("a failure of an unused link has no effect") {
  const Program program = ring_program();
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  machine.links.push_back({"spare", kRate, kLatency});
  const TimeResult whole = run(program, machine);
  for (const double at : {0.0, 2.5 * kHop, 1.0}) {
    machine.failures = {{static_cast<LinkIndex>(machine.links.size() - 1), at}};
    CHECK(run(program, machine) == whole);
  }
}

TEST_CASE("the first of several failures that affects a transfer ends the run") {
  const Program program = ring_program();
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  machine.failures = {
      {link_of(3, 0), 3.5 * kHop}, {link_of(1, 0), 1.5 * kHop}, {link_of(0, 1), 2.5 * kHop}};
  const TimeResult result = run(program, machine);
  REQUIRE(result.failure.has_value());
  CHECK(result.failure->time_s == Approx(1.5 * kHop).epsilon(kRelative));
  CHECK(result.failure->link == link_of(1, 0));
  machine.failures.clear();
  for (LinkIndex link = 0; link < machine.links.size(); ++link)
    machine.failures.push_back({link, 2.5 * kHop});
  CHECK(run(program, machine).failure.has_value());
}

TEST_CASE("the failed link of a longer route is reported, not the first link") {
  const Program program = make_one_shot_all_reduce(
      3, kElements, ElementFormat::bf16,
      {{.element = ElementFormat::bf16}, {.element = ElementFormat::bf16}, {1, 1, 128}});
  Machine machine;
  machine.dma_queue = 16;
  for (LinkIndex rank = 0; rank < 3; ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    machine.links.push_back({"link " + std::to_string(rank), kRate, kLatency});
    machine.links.push_back({"bridge " + std::to_string(rank), kRate, kLatency});
    machine.out_ports.push_back(
        {{(rank + 1) % 3, {2 * rank}}, {(rank + 2) % 3, {2 * rank, 2 * rank + 1}}});
  }
  machine.failures = {{5, 2.0 * kHop}};  // the bridge from chip 2
  const TimeResult result = run(program, machine);
  REQUIRE(result.failure.has_value());
  CHECK(result.failure->link == 5);
  CHECK(result.failure->sender == 2);
  CHECK(result.failure->receiver == 1);
}

TEST_CASE("a pipelined, quantized run terminates after a failure at any time") {
  std::mt19937_64 random(6);
  const Program program = make_ring_program(RankGrid({3, 2}), 200'000, ElementFormat::bf16,
                                            quantized(2, 3, RingStyle::full_loop));
  const UniformCosts costs{.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9, .sync_s = 50e-9};
  Machine machine = torus_machine(program, kRate, kLatency);
  machine.dma_queue = 2;  // so that senders block as well
  const TimeResult whole = run(program, machine, costs);
  for (int trial = 0; trial < 60; ++trial) {
    const auto link = static_cast<LinkIndex>(random() % machine.links.size());
    const double at = whole.time_s * static_cast<double>(random() % 1000) / 1000.0;
    CAPTURE(link, at, whole.time_s);
    machine.failures = {{link, at}};
    const TimeResult result = run(program, machine, costs);
    if (!result.failure) {  // the link had completed its transfers
      CHECK(result == whole);
      continue;
    }
    CHECK(result.failure->link == link);
    CHECK(result.failure->time_s >= at * (1.0 - kRelative));
    CHECK(result.failure->time_s <= whole.time_s * (1.0 + kRelative));
    bool found = false;
    for (const OutPort& port : machine.out_ports[result.failure->sender])
      found = found || (port.peer == result.failure->receiver && port.route.front() == link);
    CHECK(found);
  }
}

TEST_CASE("a failure also ends a traced run") {
  const Program program = ring_program();
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  machine.failures = {{link_of(1, 0), 1.5 * kHop}};
  const Costs costs = UniformCosts{}.of(program);
  const TimeResult plain_run = simulate(program, machine, costs);
  const TimeResult traced = simulate(program, machine, costs, {.traced = true});
  REQUIRE(traced.failure.has_value());
  CHECK(traced.failure == plain_run.failure);
  CHECK(traced.time_s == plain_run.time_s);
  // All transfers of the first step arrived, and at most some of the second.
  CHECK(traced.trace.transfers.size() >= 2 * kRanks);
  for (const TransferEvent& event : traced.trace.transfers) {
    CHECK(event.arrived_s > event.sent_s);
    CHECK(event.arrived_s <= traced.time_s);
    CHECK(event.message != traced.failure->message);
  }
}

// --- Slow chips and links

TEST_CASE("slowing down all chips by a factor equals scaling the core costs") {
  const Program program =
      make_ring_all_reduce(5, 100'000, ElementFormat::bf16, quantized(2, 2, RingStyle::full_loop));
  Machine machine = ring_machine(5, kRate, kLatency);
  const TimeResult dear =
      run(program, machine, {.work_s = 0.6e-6, .send_s = 60e-9, .wait_s = 30e-9});
  machine.slowdown = std::vector<double>(5, 3.0);
  const TimeResult slow =
      run(program, machine, {.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9});
  CHECK(slow.time_s == Approx(dear.time_s).epsilon(1e-9));
  CHECK(slow.core_busy_s.front() == Approx(dear.core_busy_s.front()).epsilon(1e-9));
}

TEST_CASE("one slow chip is busy for longer and delays all others") {
  const Program program =
      make_ring_all_reduce(5, 100'000, ElementFormat::bf16, quantized(2, 2, RingStyle::full_loop));
  const UniformCosts costs{.work_s = 0.5e-6, .send_s = 20e-9, .wait_s = 10e-9};
  Machine machine = ring_machine(5, kRate, kLatency);
  const TimeResult even = run(program, machine, costs);
  machine.slowdown = {1.0, 1.0, 4.0, 1.0, 1.0};
  const TimeResult one = run(program, machine, costs);
  CHECK(one.core_busy_s[2] == Approx(4.0 * even.core_busy_s[2]).epsilon(1e-9));
  CHECK(one.core_busy_s[0] == Approx(even.core_busy_s[0]).epsilon(1e-9));
  CHECK(one.time_s > 2.0 * even.time_s);
  CHECK(one.time_s >= one.core_busy_s[2]);
  machine.slowdown = std::vector<double>(5, 4.0);
  CHECK(run(program, machine, costs).time_s >= one.time_s);
}

TEST_CASE("a slow chip adds its delay to each step of a ring") {
  // Only additions have costs. A slow core delays every step of both directions by one addition
  // each; delayed messages return to it, so delays accumulate.
  const Program program = ring_program();
  const UniformCosts costs{.work_s = 1e-6};
  Machine machine = ring_machine(kRanks, kRate, kLatency);
  const double even = run(program, machine, costs).time_s;
  machine.slowdown = {1.0, 2.0, 1.0, 1.0};
  const double slow = run(program, machine, costs).time_s;
  CHECK(slow >= even + 2.0 * costs.work_s);
  CHECK(slow <= even + (kRanks - 1) * 2.0 * costs.work_s * (1.0 + kRelative));
}

// Equal sides only: otherwise a larger tensor may be partitioned differently and run faster.
TEST_CASE("time is monotone in tensor size and in the speed of links and chips") {
  std::mt19937_64 random(7);
  const auto uniform = [&](double from, double to) {
    return from + (to - from) * static_cast<double>(random() % 10'000) / 10'000.0;
  };
  for (int trial = 0; trial < 16; ++trial) {
    const std::vector<std::uint32_t> lengths =
        trial % 2 == 0
            ? std::vector<std::uint32_t>{2 + static_cast<std::uint32_t>(random() % 5)}
            : std::vector<std::uint32_t>(2, 2 + static_cast<std::uint32_t>(random() % 2));
    const RingStyle style = random() % 2 == 0 ? RingStyle::full_loop : RingStyle::semi_loop;
    const auto options =
        random() % 2 == 0 ? quantized(2, 2, style) : plain(ElementFormat::bf16, 3, style);
    const RankGrid grid(lengths);
    const std::uint64_t unit = std::uint64_t{grid.ranks()} * 2 * lengths.size() * 12 * 1024;
    const auto program_of = [&](std::uint64_t units) {
      return make_ring_program(grid, units * unit, ElementFormat::bf16, options);
    };
    const std::uint64_t units = 1 + random() % 3;
    const Program program = program_of(units);
    const UniformCosts costs{.work_s = uniform(0.0, 3e-6),
                             .send_s = uniform(0.0, 0.2e-6),
                             .wait_s = uniform(0.0, 0.1e-6),
                             .sync_s = uniform(0.0, 1e-6)};
    const double rate = uniform(10e9, 100e9);
    const double latency = uniform(0.0, 5e-6);
    const Machine machine = torus_machine(program, rate, latency);
    const double time = run(program, machine, costs).time_s;
    const double least = time * (1.0 - 1e-9);
    CAPTURE(lengths, collectives::name(style), units, rate, latency, costs.work_s);
    CHECK(time >= lower_bound_s(program, machine));
    CHECK(run(program_of(2 * units), machine, costs).time_s >= least);
    CHECK(run(program, torus_machine(program, rate / 2.0, latency), costs).time_s >= least);
    CHECK(run(program, torus_machine(program, rate, latency + uniform(0.0, 5e-6)), costs).time_s >=
          least);
    Machine worse = machine;
    worse.slowdown = std::vector<double>(grid.ranks(), 1.0);
    worse.slowdown[random() % grid.ranks()] = uniform(1.0, 5.0);
    const double slowed = run(program, worse, costs).time_s;
    CHECK(slowed >= least);
    worse.slowdown[random() % grid.ranks()] += uniform(0.0, 5.0);
    CHECK(run(program, worse, costs).time_s >= slowed * (1.0 - 1e-9));
    worse = machine;
    LinkSpec& link = worse.links[random() % worse.links.size()];
    link.rate /= uniform(1.0, 4.0);
    link.latency += uniform(0.0, 3e-6);
    CHECK(run(program, worse, costs).time_s >= least);
  }
}

}  // namespace
}  // namespace equarx::sim::time_executor_disturbance_test
