#include "importers/hlo/sorts.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::sorts_test {
namespace {

double compared(const std::string& instruction) {
  const Module module =
      testing::hlo_module("  %p = f32[8,64] parameter(0)\n  %r = " + instruction + "\n");
  const Instruction& made = testing::instruction_of(module, "r");
  REQUIRE(sorts(made));
  return comparisons(made, testing::entry_of(module));
}

TEST_CASE("a sort compares n log n, and a selection n log k") {
  CHECK(compared("f32[8,64] sort(%p), dimensions={1}, to_apply=%add") == 512 * 6.0);
  CHECK(compared("f32[8,64] sort(%p), dimensions={0}, to_apply=%add") == 512 * 3.0);
  CHECK(
      compared(
          "(f32[8,64], u8[9]) custom-call(%p), custom_call_target=\"xla.gpu.ext.cub_sort_keys\"") ==
      512 * 6.0);
  CHECK(compared("(f32[8,4], s32[8,4]) topk(%p), k=4, largest=true") == 512 * 2.0);
  for (const char* target : {"TopK", "__gpu$TopK"})
    CHECK(compared("(f32[8,4], s32[8,4]) custom-call(%p), custom_call_target=\"" +
                   std::string(target) + "\"") == 512 * 2.0);
  CHECK(compared("(f32[8,1], s32[8,1]) topk(%p), k=1") == 512.0);
  CHECK(compared("f32[8,64] sort(%gone), to_apply=%add") == 0.0);
}

TEST_CASE("other instructions do not sort") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %r = f32[8] custom-call(%p), custom_call_target=\"mine\"\n");
  CHECK_FALSE(sorts(testing::instruction_of(module, "p")));
  CHECK_FALSE(sorts(testing::instruction_of(module, "r")));
}

}  // namespace
}  // namespace equarx::hlo::sorts_test
