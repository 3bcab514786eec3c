#include "importers/msccl/dependencies.hpp"

#include "tests/catch.hpp"

namespace equarx::testing::dependencies_test {
namespace {

using namespace schedules;

Step copy(std::uint32_t from, std::uint32_t to) {
  return {.op = Op::copy,
          .source = {Memory::input, from},
          .destination = {Memory::scratch, to},
          .count = 1};
}

TEST_CASE("reads depend on earlier writes, and writes on earlier reads") {
  RankWriter writer(std::vector<ThreadBlock>(2));
  writer.add(0, copy(0, 0));
  writer.add(1, {.op = Op::send, .source = {Memory::scratch, 0}, .count = 1});
  writer.add(0, copy(1, 0));
  const auto& blocks = writer.blocks();
  CHECK_FALSE(blocks[0].steps[0].after);
  CHECK(blocks[1].steps[0].after == Dependency{0, 0});
  CHECK(blocks[0].steps[1].after == Dependency{1, 0});
  CHECK(blocks[0].steps[0].signals);
  CHECK(blocks[1].steps[0].signals);
  CHECK_FALSE(blocks[0].steps[1].signals);
}

TEST_CASE("further dependencies go to nops, without duplicates") {
  RankWriter writer(std::vector<ThreadBlock>(3));
  writer.add(0, copy(0, 0));
  writer.add(1, copy(1, 1));
  writer.add(2, {.op = Op::send, .source = {Memory::scratch, 0}, .count = 2});
  writer.add(2, {.op = Op::send, .source = {Memory::scratch, 1}, .count = 1});
  const std::vector<Step>& steps = writer.blocks()[2].steps;
  REQUIRE(steps.size() == 3);
  CHECK(steps[0] == Step{.op = Op::nop, .after = Dependency{0, 0}});
  CHECK(steps[1].after == Dependency{1, 0});
  CHECK_FALSE(steps[2].after);
}

TEST_CASE("concurrent reads and accesses within a thread block need no dependency") {
  RankWriter writer(std::vector<ThreadBlock>(2));
  writer.add(0, copy(0, 0));
  writer.add(1, copy(0, 1));
  writer.add(1, copy(0, 1));
  for (const ThreadBlock& block : writer.blocks())
    for (const Step& step : block.steps) CHECK_FALSE((step.after || step.signals));
}

}  // namespace
}  // namespace equarx::testing::dependencies_test
