#include "importers/hlo/contents.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::contents_test {
namespace {

TEST_CASE("contents count a collective as often as calls reach it") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %x = f32[8] call(%p), to_apply=%one\n  %y = f32[8] "
      "fusion(%x), "
      "calls=%one\n  %z = f32[8] while(%y), condition=%none, body=%none\n",
      "%none (v: f32[8]) -> f32[8] {\n  %v = f32[8] parameter(0)\n}\n"
      "%one (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  %s = f32[8] "
      "all-reduce-start(%x), to_apply=%add\n  ROOT %d = f32[8] all-reduce-done(%s)\n}\n");
  const std::vector<Contents> contents = contents_of(module);
  CHECK(contents[0].collectives == 0);
  CHECK(contents[1].collectives == 1);
  CHECK_FALSE(contents[1].has_control_flow);
  CHECK(contents[module.entry].collectives == 2);
  CHECK(contents[module.entry].has_control_flow);
}

TEST_CASE("the number of collectives saturates") {
  std::string chain =
      "%c0 (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n  ROOT %n = f32[8] "
      "all-to-all(%x)\n}\n";
  for (int i = 1; i <= 60; ++i)
    chain += "%c" + std::to_string(i) + " (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n" +
             "  %y = f32[8] fusion(%x), calls=%c" + std::to_string(i - 1) +
             "\n  ROOT %z = f32[8] fusion(%y), calls=%c" + std::to_string(i - 1) + "\n}\n";
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %r = f32[8] fusion(%p), calls=%c60\n", chain);
  CHECK(contents_of(module)[module.entry].collectives == kMostCollectives);
}

TEST_CASE("instructions that run the computations that they call") {
  const auto of = [](const char* opcode) {
    Instruction made;
    made.opcode = opcode;
    return made;
  };
  for (const char* opcode : {"fusion", "call", "async-start", "call-start", "custom-call"})
    CHECK(runs_called(of(opcode)));
  for (const char* opcode :
       {"reduce", "sort", "all-reduce", "all-reduce-start", "async-done", "map"})
    CHECK_FALSE(runs_called(of(opcode)));
  CHECK(is_collective(of("all-gather-start")));
  CHECK_FALSE(is_collective(of("all-gather-done")));
}

}  // namespace
}  // namespace equarx::hlo::contents_test
