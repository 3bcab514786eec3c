#include "sim/timeline.hpp"

#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/sim/rings.hpp"

namespace equarx::sim {
namespace {

TEST_CASE("a timeline keeps every transfer in order and all core time") {
  const auto program =
      collectives::make_ring_all_reduce(4, 100'000, numerics::ElementFormat::bf16,
                                        tests::quantized(2, 3, collectives::RingStyle::semi_loop));
  Costs costs = tests::UniformCosts{}.of(program);
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
  const auto program = collectives::make_ring_all_reduce(
      2, 16, numerics::ElementFormat::fp32, tests::plain(numerics::ElementFormat::fp32, 1));
  Costs costs = tests::UniformCosts{}.of(program);
  CHECK_NOTHROW(make_timeline(program, costs));
  costs.core_s.pop_back();
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
  costs = tests::UniformCosts{}.of(program);
  costs.link_s.pop_back();
  CHECK_THROWS_AS(make_timeline(program, costs), std::logic_error);
}

}  // namespace
}  // namespace equarx::sim
