#include "importers/hlo/scalars.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::scalars_test {
namespace {

/// Value of %r; parameter 0 is the counter, parameter 1 a tuple (5, unknown).
MaybeScalar value(const std::string& lines) {
  const Module module = testing::hlo_module(
      "  %i = s32[] parameter(0)\n  %t = (s32[], s32[]) parameter(1)\n  %three = s32[] "
      "constant(3)\n" +
      lines);
  const Computation& entry = testing::entry_of(module);
  ScalarEvaluator evaluator(module, entry, {{Scalar{0, 1}}, {Scalar{5}, std::nullopt}});
  return evaluator.value(static_cast<InstructionId>(entry.instructions.size() - 1));
}

TEST_CASE("values are constants or lines of the counter") {
  CHECK(value("  %r = s32[] constant(-7)\n") == Scalar{-7});
  CHECK(value("  %r = s32[] constant({4})\n") == Scalar{4});
  CHECK(value("  %r = pred[] constant(true)\n") == Scalar{1});
  CHECK(value("  %r = s32[] add(%i, %three)\n") == Scalar{3, 1});
  CHECK(value("  %r = s32[] subtract(%three, %i)\n") == Scalar{3, -1});
  CHECK(value("  %m = s32[] multiply(%i, %three)\n  %r = s32[] negate(%m)\n") == Scalar{0, -3});
  CHECK(value("  %g = s32[] get-tuple-element(%t), index=0\n  %r = s32[] maximum(%g, %three)\n") ==
        Scalar{5});
  CHECK(value("  %c = pred[] compare(%three, %three), direction=GE\n  %n = pred[] not(%c)\n  %r = "
              "s32[] select(%n, %i, %three)\n") == Scalar{3});
  CHECK(value("  %r = s32[] remainder(%three, %three)\n") == Scalar{0});
}

TEST_CASE("other values are unknown") {
  for (const char* line :
       {"  %r = s32[] get-tuple-element(%t), index=1\n",
        "  %r = s32[] get-tuple-element(%t), index=9\n", "  %r = s32[] multiply(%i, %i)\n",
        "  %r = s32[] maximum(%i, %three)\n", "  %r = f32[] constant(3)\n",
        "  %r = s32[4] broadcast(%three)\n", "  %r = s8[] convert(%i)\n",
        "  %r = u32[] constant(-1)\n", "  %r = s32[] constant(99999999999)\n",
        "  %r = s32[] constant(1x)\n", "  %r = s32[] divide(%three, %gone)\n",
        "  %z = s32[] constant(0)\n  %r = s32[] divide(%three, %z)\n",
        "  %r = pred[] compare(%i, %three), direction=LT\n"})
    CHECK_FALSE(value(line));
}

TEST_CASE("long chains are unknown") {
  std::string chain = "  %c0 = s32[] copy(%i)\n";
  for (int i = 1; i < 600; ++i)
    chain += "  %c" + std::to_string(i) + " = s32[] copy(%c" + std::to_string(i - 1) + ")\n";
  CHECK_FALSE(value(chain));
}

TEST_CASE("the comparison of a condition is found") {
  const Module module = testing::hlo_module(
      "  %i = s32[] parameter(0)\n  %n = s32[] constant(9)\n  %c = pred[] compare(%n, %i), "
      "direction=GT\n  ROOT %r = pred[] copy(%c)\n");
  const Computation& entry = testing::entry_of(module);
  ScalarEvaluator evaluator(module, entry, {{Scalar{0, 1}}});
  const auto found = evaluator.comparison(entry.root);
  REQUIRE(found);
  CHECK(found->difference == Scalar{9, -1});
  CHECK(found->direction == "GT");
  CHECK_FALSE(evaluator.comparison(1));
}

}  // namespace
}  // namespace equarx::hlo::scalars_test
