#include "sim/recosted_timelines.hpp"

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "models/collectives/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::recosted_timelines_test {
namespace {

using collectives::Program;
using numerics::ElementFormat;

constexpr std::uint32_t kKinds = 7;

std::vector<std::uint32_t> kinds_of(const Program& program) {
  std::vector<std::uint32_t> kinds;
  for (std::size_t id = 0; id < program.instructions.size(); ++id)
    kinds.push_back(static_cast<std::uint32_t>(id * 5 % kKinds));
  return kinds;
}

Costs costs_of(const Program& program, const CostsByKind& by_kind) {
  Costs costs;
  costs.start_s = by_kind.start_s;
  for (const std::uint32_t kind : kinds_of(program)) costs.core_s.push_back(by_kind.core_s[kind]);
  for (const collectives::Message& message : program.messages)
    costs.link_s.push_back(message.synchronises ? by_kind.link_s : 0.0);
  return costs;
}

void check_equal(const Timelines& one, const Timelines& other) {
  CHECK(one.streams == other.streams);
  CHECK(one.list_of == other.list_of);
  REQUIRE(one.lists.size() == other.lists.size());
  REQUIRE(one.lists.front().size() == other.lists.front().size());
  for (std::size_t i = 0; i < one.lists.front().size(); ++i) {
    const Step& step = one.lists.front()[i];
    const Step& expected = other.lists.front()[i];
    CAPTURE(i);
    CHECK(step.kind == expected.kind);
    CHECK(step.number == expected.number);
    CHECK(step.delay_s == expected.delay_s);
    CHECK(step.bytes == expected.bytes);
    CHECK(step.link_s == expected.link_s);
    CHECK(step.message == expected.message);
    CHECK(step.instruction == expected.instruction);
  }
}

TEST_CASE("timelines with other costs equal new ones bit for bit") {
  for (const auto style : {collectives::RingStyle::full_loop, collectives::RingStyle::semi_loop}) {
    const Program program = testing::make_ring_all_reduce(5, 12345, ElementFormat::bf16,
                                                          testing::quantized(3, 4, style));
    const RecostedTimelines recosted(program, kinds_of(program), 3);
    CHECK(recosted.bytes() > recosted.with({std::vector<double>(kKinds)}).lists.front().size());
    Timelines reused = recosted.with({.core_s = std::vector<double>(kKinds, 1.0)});
    for (const double scale : {1.0, 0.37, 12.5}) {
      CostsByKind costs{.core_s = {}, .start_s = 3.3e-6 * scale, .link_s = 0.7e-6 * scale};
      for (std::uint32_t kind = 0; kind < kKinds; ++kind)
        costs.core_s.push_back(kind == 3 ? 0.0 : 1e-6 * scale / (kind + 1.0));
      const Timelines expected = make_timelines(program, costs_of(program, costs), 3);
      check_equal(recosted.with(costs), expected);
      recosted.set(costs, reused);
      check_equal(reused, expected);
    }
  }
}

TEST_CASE("programs whose ranks differ are rejected") {
  const collectives::ProgramRequest request{.collective = collectives::Collective::broadcast,
                                            .grid = collectives::RankGrid({4}),
                                            .elements = 1 << 12,
                                            .reduce_scatter = {},
                                            .all_gather = {},
                                            .cut = {}};
  const Program program = collectives::find_algorithm("ring")->make(request);
  CHECK_THROWS_AS(RecostedTimelines(program, kinds_of(program), 4), std::logic_error);
}

}  // namespace
}  // namespace equarx::sim::recosted_timelines_test
