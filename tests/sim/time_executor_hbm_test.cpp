// HBM shared by DMAs and cores, compared with closed forms.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/traffic.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::time_executor_hbm_test {
namespace {

using collectives::Instruction;
using collectives::Op;
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

constexpr double kRate = 90e9;
constexpr double kLatency = 0.2e-6;
constexpr double kEndlessRate = 1e18;
constexpr double kRelative = 1e-6;  // SimGrid's clock has a resolution of 1 ps
constexpr Engine kEngines[] = {Engine::simgrid, Engine::direct};

Machine with_hbm(Machine machine, double rate) {
  add_hbm(rate, machine);
  return machine;
}

/// Each of five chips sends a message to every other chip, then stores, and then waits.
Program exchange(std::uint64_t message_bytes) {
  constexpr std::uint32_t kRanks = 5;
  const collectives::ExchangeOptions options{
      {.element = ElementFormat::fp32}, {.element = ElementFormat::fp32}, {1, 1, 128}};
  Program program = make_direct_exchange(collectives::Collective::all_to_all, kRanks,
                                         kRanks * message_bytes / 4, ElementFormat::fp32, options);
  std::erase_if(program.instructions,
                [](const Instruction& instruction) { return !is_transfer(instruction.op); });
  std::stable_partition(program.instructions.begin(), program.instructions.end(),
                        [](const Instruction& instruction) { return instruction.op == Op::send; });
  const auto wait = std::ranges::find(program.instructions, Op::wait, &Instruction::op);
  program.instructions.insert(wait, {.op = Op::store});
  return program;
}

/// No core time, and `bytes` of HBM per store.
Costs store_costs(const Program& program, std::uint64_t bytes) {
  Costs costs = UniformCosts{}.of(program);
  for (const Instruction& instruction : program.instructions)
    costs.hbm_bytes.push_back(instruction.op == Op::store ? bytes : 0);
  return costs;
}

/// Distinct HBM bytes and core time for each instruction.
Costs varied_costs(const Program& program) {
  Costs costs = UniformCosts{.work_s = 0.3e-6, .send_s = 20e-9, .wait_s = 10e-9}.of(program);
  costs.before_hbm_s = 0.1e-6;
  for (std::size_t id = 0; id < program.instructions.size(); ++id)
    costs.hbm_bytes.push_back(is_vector_work(program.instructions[id].op) ? 10'000 * (id % 7) : 0);
  return costs;
}

void check_time(const Program& program, const Machine& machine, const Costs& costs,
                double expected_s) {
  for (const Engine engine : kEngines)
    CHECK(simulate(program, machine, costs, {.engine = engine}).time_s ==
          Approx(expected_s).epsilon(kRelative));
}

TEST_CASE("an isolated transfer takes the lower rate of its link and HBM") {
  constexpr std::uint64_t kElements = 1 << 20;
  const Program program = collectives::make_direct_broadcast(
      2, kElements, ElementFormat::fp32,
      {RingStyle::full_loop, {.element = ElementFormat::fp32}, {1, 1, 128}});
  const Machine machine = torus_machine(program, kRate, kLatency);
  const Costs costs = UniformCosts{}.of(program);
  for (const double hbm_rate : {kRate / 10.0, kRate, 2.0 * kRate}) {
    const double expected_s = kLatency + 4.0 * kElements / std::min(kRate, hbm_rate);
    check_time(program, with_hbm(machine, hbm_rate), costs, expected_s);
  }
}

TEST_CASE("an isolated core access takes the longer of core and HBM time, after its overhead") {
  const Program program = exchange(4096);
  const Machine machine = with_hbm(torus_machine(program, kEndlessRate, 0.0), kRate);
  for (const double core_s : {1e-6, 20e-6}) {
    Costs costs = store_costs(program, 900'000);
    costs.before_hbm_s = 0.5e-6;
    for (std::size_t id = 0; id < costs.core_s.size(); ++id)
      if (costs.hbm_bytes[id] > 0) costs.core_s[id] = costs.before_hbm_s + core_s;
    // Messages use HBM as well and get 8 of 9 shares while in flight.
    const double both_s = 8.0 * 4096 / kRate;
    check_time(program, machine, costs, 0.5e-6 + std::max(core_s, 900'000 / kRate));
    CHECK(both_s < costs.before_hbm_s);  // they finish before the core starts
  }
}

TEST_CASE("the core and eight transfers of a chip with a slow HBM get a ninth each") {
  constexpr std::uint64_t kBytes = 1 << 20;
  const Program program = exchange(kBytes);
  constexpr double kHbmRate = 2.0 * kRate;  // a ninth is below the link rate
  const Machine machine = with_hbm(torus_machine(program, kRate, 0.0), kHbmRate);
  // All finish simultaneously; or the core continues alone, or the eight transfers do.
  check_time(program, machine, store_costs(program, kBytes), 9.0 * kBytes / kHbmRate);
  check_time(program, machine, store_costs(program, 3 * kBytes), 11.0 * kBytes / kHbmRate);
  check_time(program, machine, store_costs(program, kBytes / 2), 8.5 * kBytes / kHbmRate);
}

TEST_CASE("the core gets the HBM rate that links cannot use") {
  constexpr std::uint64_t kBytes = 1 << 20;
  constexpr double kHbmRate = 10.0 * kRate;  // eight transfers leave two tenths to the core
  const Program program = exchange(kBytes);
  const Machine machine = with_hbm(torus_machine(program, kRate, 0.0), kHbmRate);
  const double links_s = kBytes / kRate;
  check_time(program, machine, store_costs(program, kBytes), links_s);
  check_time(program, machine, store_costs(program, 2 * kBytes), links_s);
  check_time(program, machine, store_costs(program, 12 * kBytes), 2.0 * links_s);
}

TEST_CASE("a slow chip takes longer core time but not longer HBM time") {
  const Program program = exchange(4096);
  Machine machine = with_hbm(torus_machine(program, kEndlessRate, 0.0), kRate);
  machine.slowdown = {1.0, 1.0, 3.0, 1.0, 1.0};
  Costs costs = store_costs(program, 900'000);
  costs.before_hbm_s = 2e-6;
  for (std::size_t id = 0; id < costs.core_s.size(); ++id)
    if (costs.hbm_bytes[id] > 0) costs.core_s[id] = 3e-6;
  check_time(program, machine, costs, 3.0 * 2e-6 + 900'000 / kRate);
}

TEST_CASE("an infinitely fast HBM has no effect") {
  for (const Program& program :
       {make_ring_all_reduce(6, 1'000'000, ElementFormat::bf16,
                             quantized(2, 4, RingStyle::semi_loop)),
        make_ring_all_reduce(6, 1'000'000, ElementFormat::bf16, plain(ElementFormat::bf16, 4))}) {
    Costs costs = varied_costs(program);
    Costs core_alone = costs;
    core_alone.hbm_bytes.clear();
    Machine machine = ring_machine(6, kRate, kLatency);
    machine.dma_queue = 1000;  // the blocking time of a full queue differs by up to one latency
    const double expected_s = simulate(program, machine, core_alone).time_s;
    check_time(program, with_hbm(machine, kEndlessRate), costs, expected_s);
  }
}

TEST_CASE("all bytes of cores and messages cross their HBMs, and no run beats the bound") {
  const Program program = make_ring_all_reduce(8, 1'000'000, ElementFormat::bf16,
                                               quantized(2, 4, RingStyle::full_loop));
  const Costs costs = varied_costs(program);
  std::uint64_t core_bytes = 0;
  for (const std::uint64_t bytes : costs.hbm_bytes) core_bytes += bytes;
  std::uint64_t sent = 0;
  for (const std::uint64_t bytes : collectives::sent_bytes(program)) sent += bytes;
  for (const double hbm_rate : {0.5 * kRate, 2.0 * kRate, 20.0 * kRate})
    for (const Engine engine : kEngines) {
      const Machine machine = with_hbm(ring_machine(8, kRate, kLatency), hbm_rate);
      const TimeResult result = simulate(program, machine, costs, {.engine = engine});
      CHECK(result.link_bytes == link_bytes(program, machine, costs));
      for (const LinkIndex hbm : machine.hbm) {
        CHECK(result.link_bytes[hbm] == 2 * sent + core_bytes);
        CHECK(result.link_busy_s[hbm] ==
              Approx(static_cast<double>(2 * sent + core_bytes) / hbm_rate));
      }
      CHECK(result.time_s >= lower_bound_s(program, machine, costs));
    }
}

TEST_CASE("the bound is tight if HBM is always busy") {
  constexpr std::uint64_t kBytes = 1 << 20;
  const Program program = exchange(kBytes);
  const Machine machine = with_hbm(torus_machine(program, kRate, 0.0), kRate);
  const Costs costs = store_costs(program, kBytes);
  CHECK(lower_bound_s(program, machine, costs) == Approx(9.0 * kBytes / kRate));
  check_time(program, machine, costs, lower_bound_s(program, machine, costs));
}

TEST_CASE("time falls as HBM becomes faster") {
  const Program program = make_ring_all_reduce(8, 1'000'000, ElementFormat::bf16,
                                               quantized(2, 4, RingStyle::full_loop));
  const Costs costs = varied_costs(program);
  const Machine slowest = with_hbm(ring_machine(8, kRate, kLatency), 0.125 * kRate);
  const double slowest_s = simulate(program, slowest, costs, {.engine = Engine::direct}).time_s;
  double slower_s = slowest_s;
  for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
    const Machine machine = with_hbm(ring_machine(8, kRate, kLatency), factor * kRate);
    const double time_s = simulate(program, machine, costs, {.engine = Engine::direct}).time_s;
    CHECK(time_s <= slower_s);
    slower_s = time_s;
  }
  CHECK(slower_s < slowest_s / 4.0);
}

TEST_CASE("an instruction that waits for HBM is one core event, and the core is busy throughout") {
  const Program program = exchange(1 << 20);
  const Machine machine = with_hbm(torus_machine(program, kRate, 0.0), kRate);
  Costs costs = store_costs(program, 1 << 20);
  for (std::size_t id = 0; id < costs.core_s.size(); ++id)
    if (costs.hbm_bytes[id] > 0) costs.core_s[id] = 1e-6;
  for (const Engine engine : kEngines) {
    const TimeResult result = simulate(program, machine, costs, {.traced = true, .engine = engine});
    REQUIRE(result.trace.core.size() == machine.ranks());
    for (const CoreEvent& event : result.trace.core) {
      CHECK(event.end_s - event.start_s == Approx(9.0 * (1 << 20) / kRate).epsilon(kRelative));
      CHECK(result.core_busy_s[event.rank] ==
            Approx(event.end_s - event.start_s).epsilon(kRelative));
    }
  }
}

TEST_CASE("HBM accesses on a machine without HBMs are rejected") {
  const Program program = exchange(4096);
  const Machine machine = torus_machine(program, kRate, 0.0);
  CHECK_THROWS_WITH(simulate(program, machine, store_costs(program, 1)),
                    ContainsSubstring("the machine has no HBMs"));
}

}  // namespace
}  // namespace equarx::sim::time_executor_hbm_test
