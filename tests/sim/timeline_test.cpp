#include "sim/timeline.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::timeline_test {
namespace {

TEST_CASE("a timeline preserves transfers, their order and all core time") {
  const auto program =
      testing::make_ring_all_reduce(4, 100'000, numerics::ElementFormat::bf16,
                                    testing::quantized(2, 3, collectives::RingStyle::semi_loop));
  Costs costs = testing::UniformCosts{}.of(program);
  costs.core_s.clear();
  double total = 0.0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    costs.core_s.push_back(static_cast<double>(i % 7));
    total += costs.core_s.back();
  }
  const std::vector<Step> steps = make_timeline(program, costs);
  std::vector<collectives::InstructionId> transfers;
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].op == collectives::Op::send ||
        program.instructions[i].op == collectives::Op::wait)
      transfers.push_back(static_cast<collectives::InstructionId>(i));
  REQUIRE(steps.size() == transfers.size() + 1);
  double delays = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    delays += steps[i].delay_s;
    if (i < transfers.size()) CHECK(steps[i].instruction == transfers[i]);
  }
  CHECK(steps.back().kind == Step::Kind::end);
  CHECK(delays == total);
}

TEST_CASE("every instruction and every message needs a cost") {
  const auto program = testing::make_ring_all_reduce(
      2, 16, numerics::ElementFormat::fp32, testing::plain(numerics::ElementFormat::fp32, 1));
  Costs costs = testing::UniformCosts{}.of(program);
  CHECK_NOTHROW(make_timeline(program, costs));
  costs.core_s.pop_back();
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
  costs = testing::UniformCosts{}.of(program);
  costs.link_s.pop_back();
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
  costs = testing::UniformCosts{}.of(program);
  costs.hbm_bytes = {1};
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
}

TEST_CASE("an instruction with a least duration is a step of its own, after earlier core time") {
  const auto program = testing::make_ring_all_reduce(
      2, 16, numerics::ElementFormat::fp32, testing::plain(numerics::ElementFormat::fp32, 1));
  Costs costs = testing::UniformCosts{.work_s = 2.0, .send_s = 0.0, .wait_s = 3.0}.of(program);
  costs.start_s = 7.0;
  costs.least_s.assign(program.instructions.size(), 0.0);
  double core_s = 7.0;
  std::size_t lasting = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    core_s += costs.core_s[i];
    if (program.instructions[i].op == collectives::Op::send) continue;
    costs.least_s[i] = 5.0;
    ++lasting;
  }
  double delays_s = 0.0;
  std::size_t found = 0;
  for (const Step& step : make_timeline(program, costs)) {
    delays_s += step.delay_s;
    if (step.least_s == 0.0) continue;
    CHECK(step.kind == Step::Kind::work);
    CHECK(step.delay_s == costs.core_s[step.instruction]);
    ++found;
  }
  CHECK(delays_s == core_s);
  CHECK(found == lasting);
  costs.least_s.pop_back();
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
}

TEST_CASE("an instruction with HBM bytes ends a step that starts with earlier core time") {
  const auto program =
      testing::make_ring_all_reduce(4, 100'000, numerics::ElementFormat::bf16,
                                    testing::quantized(2, 3, collectives::RingStyle::full_loop));
  Costs costs = testing::UniformCosts{.work_s = 4.0, .send_s = 1.0, .wait_s = 2.0}.of(program);
  costs.before_hbm_s = 1.0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    costs.hbm_bytes.push_back(is_vector_work(program.instructions[i].op) ? i % 3 : 0);
    total += costs.hbm_bytes.back();
  }
  for (const bool traced : {false, true}) {
    std::uint64_t bytes = 0;
    double core_s = 0.0;
    for (const Step& step : make_timeline(program, costs, 0, traced)) {
      bytes += step.hbm_bytes;
      core_s += step.delay_s + step.overlapped_s;
      if (step.hbm_bytes == 0) {
        CHECK(step.overlapped_s == 0.0);
        continue;
      }
      CHECK(step.kind == Step::Kind::work);
      CHECK(step.hbm_bytes == costs.hbm_bytes[step.instruction]);
      CHECK(step.overlapped_s == 3.0);
      CHECK((traced ? step.delay_s == 1.0 : step.delay_s >= 1.0));
    }
    CHECK(bytes == total);
    CHECK(core_s == std::accumulate(costs.core_s.begin(), costs.core_s.end(), 0.0));
  }
}

TEST_CASE("a timeline contains only the instructions of its rank") {
  const auto program = collectives::make_ring_broadcast(
      5, 50'000, numerics::ElementFormat::bf16,
      {collectives::RingStyle::full_loop, {.element = numerics::ElementFormat::bf16}, {1, 2, 128}});
  const Costs costs =
      testing::UniformCosts{.work_s = 1.0, .send_s = 1.0, .wait_s = 1.0}.of(program);
  for (collectives::Rank rank = 0; rank < 5; ++rank) {
    std::size_t transfers = 0;
    for (const auto& instruction : program.instructions)
      transfers += is_transfer(instruction.op) && instruction.ranks.contains(rank) ? 1 : 0;
    const auto steps = make_timeline(program, costs, rank);
    CHECK(steps.size() == transfers + 1);
    for (const Step& step : steps)
      if (step.kind != Step::Kind::end)
        CHECK(program.instructions[step.instruction].ranks.contains(rank));
  }
}

TEST_CASE("ranks with identical instructions share a timeline") {
  const auto same = [](const std::vector<Step>& one, const std::vector<Step>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const Step& a, const Step& b) {
                        return a.kind == b.kind && a.number == b.number && a.delay_s == b.delay_s &&
                               a.bytes == b.bytes && a.link_s == b.link_s &&
                               a.message == b.message && a.instruction == b.instruction;
                      });
  };
  const auto program = collectives::make_ring_broadcast(
      9, 50'000, numerics::ElementFormat::bf16,
      {collectives::RingStyle::semi_loop, {.element = numerics::ElementFormat::bf16}, {1, 2, 128}});
  const Costs costs = testing::UniformCosts{.send_s = 1e-6}.of(program);
  const Timelines timelines = make_timelines(program, costs, 9);
  REQUIRE(timelines.list_of.size() == 9);
  // The root, and for each of two chains the last rank and all others.
  CHECK(timelines.lists.size() == 5);
  for (collectives::Rank rank = 0; rank < 9; ++rank) {
    CHECK(same(timelines.of(rank), make_timeline(program, costs, rank)));
  }

  const auto uniform = testing::make_ring_all_reduce(
      8, 50'000, numerics::ElementFormat::fp32, testing::plain(numerics::ElementFormat::fp32, 1));
  const Timelines one = make_timelines(uniform, testing::UniformCosts{}.of(uniform), 3);
  CHECK(one.lists.size() == 1);
  CHECK(one.list_of == std::vector<std::uint32_t>(3, 0));
}

}  // namespace
}  // namespace equarx::sim::timeline_test
