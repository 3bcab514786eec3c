#include "sim/time_executor.hpp"

#include <algorithm>
#include <latch>
#include <stdexcept>
#include <thread>

#include "sim/symmetry.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::time_executor_test {
namespace {

using collectives::Op;
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
constexpr double kRelative = 1e-6;  // tolerance for closed forms

double time_of(const Program& program, const Machine& machine, const UniformCosts& costs = {}) {
  return simulate(program, machine, costs.of(program)).time_s;
}

double run(std::uint32_t ranks, std::uint64_t elements, const collectives::RingOptions& options,
           double rate = kRate, double latency = kLatency, const UniformCosts& costs = {}) {
  return time_of(make_ring_all_reduce(ranks, elements, ElementFormat::bf16, options),
                 ring_machine(ranks, rate, latency), costs);
}

TEST_CASE("an unpipelined ring takes 2 (N-1) (a + S / W)") {
  for (const std::uint32_t ranks : {3U, 4U, 5U, 8U, 16U}) {
    const std::uint64_t elements = 2ULL * ranks * 1024 * 64;
    const double piece_bytes = 2.0 * static_cast<double>(elements) / (2.0 * ranks);
    const double expected = 2.0 * (ranks - 1.0) * (kLatency + piece_bytes / kRate);
    CHECK(run(ranks, elements, plain(ElementFormat::bf16, 1)) ==
          Approx(expected).epsilon(kRelative));
  }
}

TEST_CASE("a pipelined ring is link-bound while microshards hide the latency") {
  // Microshard time t = S / (u W). While a + t <= u t the links never idle; otherwise a step takes
  // a + t.
  for (const double latency : {0.0, 0.1e-6, 0.4e-6, 5e-6, 80e-6})
    for (const std::uint32_t micro : {2U, 4U, 8U}) {
      constexpr std::uint32_t kRanks = 8;
      const std::uint64_t elements = 2ULL * kRanks * 1024 * 64;
      const double piece_s = 2.0 * static_cast<double>(elements) / (2.0 * kRanks) / kRate;
      const double micro_s = piece_s / micro;
      const double expected =
          (2.0 * (kRanks - 1) - 1.0) * std::max(piece_s, latency + micro_s) + piece_s + latency;
      CAPTURE(latency, micro);
      CHECK(run(kRanks, elements, plain(ElementFormat::bf16, micro), kRate, latency) ==
            Approx(expected).epsilon(kRelative));
    }
}

TEST_CASE("a semi-loop takes ranks - 1 steps of whole shards") {
  for (const std::uint32_t ranks : {3U, 4U, 5U, 8U}) {
    const std::uint64_t elements = 2ULL * ranks * 1024 * 16;
    const double shard_s = 2.0 * static_cast<double>(elements) / ranks / kRate;
    const double expected = 2.0 * (ranks / 2) * (kLatency + shard_s);
    CAPTURE(ranks);
    CHECK(run(ranks, elements, plain(ElementFormat::bf16, 1, RingStyle::semi_loop)) ==
          Approx(expected).epsilon(kRelative));
  }
}

TEST_CASE("core time of a step adds up if not overlapped") {
  // ReduceScatter: both directions arrive; the core waits and adds twice, then starts two DMAs. The
  // second direction lags by one DMA start, which the wait and addition of the first cover.
  // AllGather: the core waits and forwards, one direction after the other, so the second lags by
  // both. The wire time of a step exceeds all of this, so the core is idle when a message arrives.
  const UniformCosts costs{.work_s = 2e-6, .send_s = 0.5e-6, .wait_s = 0.25e-6};
  constexpr std::uint32_t kRanks = 8;
  const std::uint64_t elements = 2ULL * kRanks * 1024 * 256;
  const double wire_s = kLatency + 2.0 * 1024 * 256 / kRate;
  const double sum_s = 2.0 * (costs.wait_s + costs.work_s) + costs.send_s;
  const double forward_s = costs.wait_s + costs.send_s;
  const double expected = costs.send_s + (kRanks - 1) * (wire_s + sum_s) +
                          (kRanks - 2) * (wire_s + forward_s) + wire_s + forward_s + costs.wait_s;
  CHECK(run(kRanks, elements, plain(ElementFormat::bf16, 1), kRate, kLatency, costs) ==
        Approx(expected).epsilon(kRelative));
}

TEST_CASE("startup delays a collective once and is traced") {
  const auto program = testing::make_ring_all_reduce(
      8, 1 << 16, numerics::ElementFormat::fp32, testing::plain(numerics::ElementFormat::fp32, 1));
  const Machine machine = testing::ring_machine(8, 1e9, 1e-6);
  const Costs at_once = UniformCosts{.work_s = 2e-6}.of(program);
  Costs late = at_once;
  late.start_s = 5e-6;
  const TimeResult result = simulate(program, machine, late, {.traced = true});
  CHECK(result.time_s ==
        Approx(simulate(program, machine, at_once).time_s + 5e-6).epsilon(kRelative));
  std::vector<CoreEvent> starts;
  for (const CoreEvent& event : result.trace.core)
    if (event.work == CoreWork::start_up) starts.push_back(event);
  REQUIRE(starts.size() == 8);
  for (const CoreEvent& event : starts) {
    CHECK(event.start_s == 0.0);
    CHECK(event.end_s == Approx(5e-6));
  }
}

TEST_CASE("per-hop sync holds the links once per step of a quantized ring") {
  // One minishard with one microshard. A ReduceScatter step takes the sync, scales, payload and
  // latency. In the AllGather, scales are forwarded ahead of their payload, which follows once it
  // has arrived and the link is free.
  constexpr std::uint32_t kRanks = 8;
  constexpr double kSync = 3e-6;
  const std::uint64_t elements = 2ULL * kRanks * 1024 * 64;
  const double payload_s = 1024.0 * 64 / kRate;
  const double wire_s = payload_s + 1024.0 * 4 / kRate;
  for (const double sync_s : {0.0, kSync}) {
    const double gather_s = std::max(payload_s + kLatency, sync_s + wire_s);
    const double expected = kRanks * (sync_s + wire_s + kLatency) + (kRanks - 2) * gather_s;
    CHECK(run(kRanks, elements, quantized(1, 1, RingStyle::full_loop), kRate, kLatency,
              {.sync_s = sync_s}) == Approx(expected).epsilon(kRelative));
  }
  CHECK(run(kRanks, elements, plain(ElementFormat::bf16, 1), kRate, kLatency, {.sync_s = kSync}) ==
        run(kRanks, elements, plain(ElementFormat::bf16, 1)));
}

TEST_CASE("the chips of a ring of two share one link in each direction") {
  // Two messages per phase queue on one link: transmissions add up, latencies overlap.
  const std::uint64_t elements = 4 * 1024 * 16;
  const double piece_s = 2.0 * 1024 * 16 / kRate;
  CHECK(run(2, elements, plain(ElementFormat::bf16, 1)) ==
        Approx(4.0 * piece_s + 2.0 * kLatency).epsilon(kRelative));
}

TEST_CASE("no run beats its lower bound, and all bytes arrive") {
  const UniformCosts costs{.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9};
  for (const std::uint32_t ranks : {2U, 3U, 4U, 7U, 8U})
    for (const RingStyle style : {RingStyle::full_loop, RingStyle::semi_loop})
      for (const std::uint32_t micro : {1U, 4U}) {
        CAPTURE(ranks, micro, collectives::name(style));
        const Program program =
            make_ring_all_reduce(ranks, 1'000'003, ElementFormat::bf16, quantized(3, micro, style));
        const Machine machine = ring_machine(ranks, kRate, kLatency);
        const TimeResult result = simulate(program, machine, costs.of(program));
        CHECK(result.time_s >= lower_bound_s(program, machine));
        CHECK(result.link_bytes == link_bytes(program, machine));
        CHECK(result.messages == ranks * program.messages.size());
        REQUIRE(result.core_busy_s.size() == ranks);
        for (const double busy : result.core_busy_s) CHECK(busy <= result.time_s);
      }
}

TEST_CASE("time is monotone in bytes, bandwidth, latency and core time") {
  const auto options = quantized(4, 4, RingStyle::full_loop);
  const UniformCosts costs{.work_s = 10e-9, .send_s = 5e-9, .wait_s = 5e-9};
  double previous = 0.0;
  for (const std::uint64_t elements : {400'000U, 800'000U, 1'600'000U, 4'000'000U}) {
    const double time = run(8, elements, options, kRate, kLatency, costs);
    CHECK(time > previous);
    previous = time;
  }
  previous = 0.0;
  for (const double rate : {180e9, 90e9, 45e9, 10e9}) {
    const double time = run(8, 1'000'000, options, rate, kLatency, costs);
    CHECK(time > previous);
    previous = time;
  }
  previous = 0.0;
  for (const double latency : {0.0, 1e-6, 5e-6, 50e-6}) {
    const double time = run(8, 1'000'000, options, kRate, latency, costs);
    CHECK(time > previous);
    previous = time;
  }
  previous = 0.0;
  for (const double work : {0.0, 2e-6, 4e-6, 8e-6}) {
    const double time = run(8, 1'000'000, options, kRate, kLatency, {.work_s = work});
    CHECK(time >= previous);
    previous = time;
  }
}

TEST_CASE("three representative chips reproduce the timing of the whole ring") {
  const UniformCosts costs{.work_s = 0.3e-6, .send_s = 20e-9, .wait_s = 10e-9};
  for (const std::uint32_t ranks : {4U, 5U, 8U, 16U})
    for (const RingStyle style : {RingStyle::full_loop, RingStyle::semi_loop}) {
      const Program program =
          make_ring_all_reduce(ranks, 3'000'000, ElementFormat::bf16, quantized(2, 4, style));
      const Machine machine = ring_machine(ranks, kRate, kLatency);
      CAPTURE(ranks, collectives::name(style));
      CHECK(time_of(program, representative(program, machine.links[0], machine.dma_queue), costs) ==
            Approx(time_of(program, machine, costs)).epsilon(1e-9));
    }
}

TEST_CASE("repeated simulations are bitwise identical") {
  const Program program = make_ring_all_reduce(8, 1'000'000, ElementFormat::bf16,
                                               quantized(4, 8, RingStyle::full_loop));
  const Machine machine = ring_machine(8, kRate, kLatency);
  const Costs costs = UniformCosts{.work_s = 0.1e-6, .send_s = 2e-8}.of(program);
  CHECK(simulate(program, machine, costs) == simulate(program, machine, costs));
}

TEST_CASE("a slow link slows the ring down") {
  const Program program =
      make_ring_all_reduce(4, 1'000'000, ElementFormat::bf16, plain(ElementFormat::bf16, 4));
  Machine machine = ring_machine(4, kRate, kLatency);
  const double uniform = time_of(program, machine);
  machine.links[2].rate = kRate / 4.0;
  const double slowed = time_of(program, machine);
  CHECK(slowed > 3.0 * uniform);
  CHECK(slowed >= lower_bound_s(program, machine));
}

TEST_CASE("a deadlock is reported with the chips and their instructions") {
  // Rejected by validate(): every chip waits for a message before sending it.
  Program program =
      make_ring_all_reduce(4, 1024, ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  auto& list = program.instructions;
  const auto wait = std::ranges::find(list, Op::wait, &collectives::Instruction::op);
  std::rotate(list.begin(), wait, wait + 1);
  const Machine machine = ring_machine(4, kRate, kLatency);
  const Costs costs = UniformCosts{}.of(program);
  CHECK_THROWS_WITH(simulate(program, machine, costs),
                    ContainsSubstring("deadlocked") && ContainsSubstring("chip 0 (rank 0)") &&
                        ContainsSubstring("wait") && ContainsSubstring("instruction 0"));
}

TEST_CASE("a crash is reported with the chip and its instruction") {
  const Program program =
      make_ring_all_reduce(4, 1024, ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  const Machine machine = ring_machine(4, kRate, kLatency);
  Costs costs = UniformCosts{.work_s = 1e-6}.of(program);
  const auto add = std::ranges::find(program.instructions, Op::add, &collectives::Instruction::op);
  // SimGrid aborts on a non-finite sleep.
  costs.core_s[static_cast<std::size_t>(add - program.instructions.begin())] =
      std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(simulate(program, machine, costs),
                    ContainsSubstring("crashed") && ContainsSubstring("chip "));
}

TEST_CASE("a SimGrid simulation refuses to start with other threads running") {
  const Program program =
      make_ring_all_reduce(4, 1024, ElementFormat::bf16, plain(ElementFormat::bf16, 1));
  std::latch done(1);
  const std::jthread other([&] { done.wait(); });
  CHECK_THROWS_AS(time_of(program, ring_machine(4, kRate, kLatency)), std::logic_error);
  done.count_down();
}

}  // namespace
}  // namespace equarx::sim::time_executor_test
