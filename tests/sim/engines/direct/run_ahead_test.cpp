#include "sim/engines/direct/run_ahead.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include <rapidcheck.h>

#include "tests/catch.hpp"
#include "tests/invariants/engines/cases.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::run_ahead_test {
namespace {

using collectives::Rank;

/// A run of its own of timelines on a machine.
class Run {
 public:
  Run(const Timelines& timelines, const Machine& machine, const SimulationOptions& options = {})
      : chips_(all_chips(machine)), lists_(timelines.list_of.size()), options_(options) {
    progress_.streams = timelines.streams;
    progress_.lists = lists_;
    record_.emplace(timelines, machine, chips_, options_, progress_);
  }

  Record& record() { return *record_; }
  const Progress& progress() const { return progress_; }
  bool is_complete() const { return std::ranges::all_of(lists_, &Progress::List::done); }

 private:
  static std::vector<Rank> all_chips(const Machine& machine) {
    std::vector<Rank> chips(machine.ranks());
    std::iota(chips.begin(), chips.end(), Rank{0});
    return chips;
  }

  std::vector<Rank> chips_;
  std::vector<Progress::List> lists_;
  SimulationOptions options_;
  Progress progress_;
  std::optional<Record> record_;
};

TimeResult result_of(const Timelines& timelines, const Machine& machine, unsigned blocks,
                     unsigned threads) {
  Run run(timelines, machine);
  run_ahead_in_blocks(run.record(), blocks, threads);
  if (!run.is_complete()) throw std::runtime_error("chips are left waiting");
  return run.record().take();
}

TEST_CASE("blocks of chips on any number of threads give the result of one block, bit for bit") {
  const auto agrees = [] {
    testing::EngineCase one = testing::generate_case({});
    one.other_work_s.clear();  // which would be a stream of its own
    const Timelines timelines = one.timelines();
    RC_ASSERT(timelines.streams == 1U);
    RC_ASSERT_FALSE(Run(timelines, one.machine).record().wiring.shares());
    const unsigned blocks = *rc::gen::inRange(2U, one.machine.ranks() + 3);
    const unsigned threads = *rc::gen::inRange(1U, 5U);
    const TimeResult alone = result_of(timelines, one.machine, 1, 1);
    RC_ASSERT(result_of(timelines, one.machine, blocks, threads) == alone);
  };
  CHECK(rc::check(agrees));
}

collectives::Program ring_of(std::uint32_t ranks) {
  return testing::make_ring_all_reduce(ranks, std::uint64_t{ranks} * 4096,
                                       numerics::ElementFormat::bf16,
                                       testing::quantized(4, 8, collectives::RingStyle::full_loop));
}

TEST_CASE("more blocks than chips, and a machine without chips, are run") {
  const collectives::Program program = ring_of(5);
  const Machine machine = testing::ring_machine(5, 45e9, 0.4e-6);
  const Timelines timelines = make_timelines(program, testing::UniformCosts{}.of(program), 5);
  CHECK(result_of(timelines, machine, 100, 3) == result_of(timelines, machine, 1, 1));
  CHECK(result_of({}, {}, 4, 2).time_s == 0.0);
}

TEST_CASE("blocks leave the same chips waiting as one block does") {
  collectives::Program stuck = ring_of(6);
  const auto wait =
      std::ranges::find(stuck.instructions, collectives::Op::wait, &collectives::Instruction::op);
  std::rotate(stuck.instructions.begin(), wait, wait + 1);
  const Machine machine = testing::ring_machine(6, 45e9, 0.4e-6);
  const Timelines timelines = make_timelines(stuck, testing::UniformCosts{}.of(stuck), 6);
  for (const unsigned blocks : {1U, 2U, 3U}) {
    Run run(timelines, machine);
    run_ahead_in_blocks(run.record(), blocks, 2);
    CHECK_FALSE(run.is_complete());
  }
}

TEST_CASE("a message out of order ends all blocks, and names its receiver") {
  const collectives::Program program = ring_of(8);
  const Machine machine = testing::ring_machine(8, 45e9, 0.4e-6);
  Timelines timelines = make_timelines(program, testing::UniformCosts{}.of(program), 8);
  timelines.list_of[6] = static_cast<std::uint32_t>(timelines.lists.size());
  timelines.lists.push_back(timelines.lists.front());
  const auto wait = std::ranges::find(timelines.lists.back(), Step::Kind::wait, &Step::kind);
  wait->message += 2;
  for (const unsigned blocks : {1U, 2U, 4U}) {
    Run run(timelines, machine);
    try {
      run_ahead_in_blocks(run.record(), blocks, 2);
      FAIL("the message was received");
    } catch (const UnexpectedMessage& error) {
      CHECK(error.receiver() == 6);
    }
  }
}

TEST_CASE("an exception of the progress callback ends all blocks") {
  const collectives::Program program = ring_of(64);
  const Machine machine = testing::ring_machine(64, 45e9, 0.4e-6);
  const Timelines timelines = make_timelines(program, testing::UniformCosts{}.of(program), 64);
  for (const unsigned blocks : {1U, 4U}) {
    Run run(timelines, machine,
            {.watch = [](std::uint64_t) { throw std::runtime_error("stopped by the user"); }});
    CHECK_THROWS_WITH(run_ahead_in_blocks(run.record(), blocks, 3), "stopped by the user");
  }
}

TEST_CASE("many messages are simulated on several threads with the same result") {
  const std::uint32_t ranks = 128;
  const collectives::Program program = ring_of(ranks);
  const Machine machine = testing::ring_machine(ranks, 45e9, 0.4e-6);
  const Costs costs = testing::UniformCosts{.work_s = 0.2e-6, .send_s = 20e-9}.of(program);
  const TimeResult alone = simulate(program, machine, costs, {.engine = Engine::direct});
  REQUIRE(alone.messages > 2 * kMessagesPerThread);
  CHECK(simulate(program, machine, costs, {.engine = Engine::direct, .threads = 4}) == alone);
}

}  // namespace
}  // namespace equarx::sim::run_ahead_test
