#include "sim/engines/direct/engine.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "sim/step_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::engine_test {
namespace {

using collectives::RingStyle;
using testing::ring_machine;
using testing::UniformCosts;

const SimulationOptions kDirect{.engine = Engine::direct};
constexpr UniformCosts kCosts{.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9};

collectives::Program program() {
  return testing::make_ring_all_reduce(8, 1'000'000, numerics::ElementFormat::bf16,
                                       testing::quantized(4, 8, RingStyle::full_loop));
}

TEST_CASE("the progress callback sees increasing message counts and does not affect the result") {
  const auto program =
      testing::make_ring_all_reduce(16, 1 << 20, numerics::ElementFormat::bf16,
                                    testing::plain(numerics::ElementFormat::bf16, 64));
  const Machine machine = testing::ring_machine(16, 45e9, 0.4e-6);
  const Costs costs = testing::UniformCosts{}.of(program);
  std::vector<std::uint64_t> seen;
  const TimeResult watched = simulate(
      program, machine, costs, {.engine = Engine::direct, .watch = [&](std::uint64_t received) {
                                  seen.push_back(received);
                                }});
  CHECK(watched.time_s == simulate(program, machine, costs, {.engine = Engine::direct}).time_s);
  REQUIRE(seen.size() >= 2);
  CHECK(std::ranges::is_sorted(seen));
  CHECK(seen.front() > 0);
  CHECK(seen.back() <= watched.messages);
}

TEST_CASE("concurrent simulations in one process are independent") {
  const collectives::Program all_reduce = program();
  const Machine machine = ring_machine(8, 45e9, 0.4e-6);
  const Costs costs = kCosts.of(all_reduce);
  const TimeResult alone = simulate(all_reduce, machine, costs, kDirect);
  std::vector<TimeResult> results(8);
  {
    std::vector<std::jthread> threads;
    for (TimeResult& result : results)
      threads.emplace_back([&] { result = simulate(all_reduce, machine, costs, kDirect); });
  }
  for (const TimeResult& result : results) CHECK(result == alone);
}

TEST_CASE("a deadlock of the direct engine is reported with the chips and their positions") {
  collectives::Program stuck = testing::make_ring_all_reduce(
      4, 1024, numerics::ElementFormat::bf16, testing::plain(numerics::ElementFormat::bf16, 1));
  auto& list = stuck.instructions;
  const auto wait = std::ranges::find(list, collectives::Op::wait, &collectives::Instruction::op);
  std::rotate(list.begin(), wait, wait + 1);
  const Machine machine = ring_machine(4, 45e9, 0.4e-6);
  const Costs costs = kCosts.of(stuck);
  CHECK_THROWS_WITH(simulate(stuck, machine, costs, kDirect),
                    ContainsSubstring("deadlocked") && ContainsSubstring("chip 0 (rank 0)") &&
                        ContainsSubstring("instruction 0"));
  const StepProgram step{.programs = {{&stuck, &costs, {}}},  // selects the event-driven mode
                         .streams = {{{.task = 0, .program = 0}}, {{.task = 1}}},
                         .tasks = 2};
  const auto describe = [](std::uint32_t, collectives::InstructionId) { return std::string(); };
  CHECK_THROWS_WITH(simulate(make_timelines(step, 4), machine, describe, kDirect),
                    ContainsSubstring("deadlocked") && ContainsSubstring("chip 3 (rank 3)"));
}

TEST_CASE("a non-finite core time is an error, not an endless run") {
  const collectives::Program all_reduce = program();
  Costs costs = kCosts.of(all_reduce);
  costs.core_s.back() = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(
      simulate(all_reduce, ring_machine(8, 45e9, 0.4e-6), costs, kDirect),
      ContainsSubstring("crashed") && ContainsSubstring("not a finite number of seconds"));
}

TEST_CASE("machines that no topology produces need SimGrid") {
  Machine machine = ring_machine(4, 45e9, 0.4e-6);
  CHECK(why_not_direct(machine).empty());
  machine.out_ports[1][0].route = {2, 0, 2};
  CHECK_THAT(why_not_direct(machine), ContainsSubstring("one link twice: link 2"));
  machine.out_ports[1][0].route = {};
  CHECK_THAT(why_not_direct(machine), ContainsSubstring("no link"));
  machine.out_ports[1][0].peer = 1;  // sends nothing
  CHECK(why_not_direct(machine).empty());
}

}  // namespace
}  // namespace equarx::sim::engine_test
