#include "importers/hlo/loops.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::loops_test {
namespace {

/// Trip count of a loop that counts from `first` by `step` while less than `limit`.
std::optional<std::uint64_t> count(const std::string& first, const std::string& step,
                                   const std::string& limit, const std::string& config = "",
                                   const std::string& direction = "LT") {
  const Module module = testing::hlo_module(
      "  %f = s32[] constant(" + first +
          ")\n  %x = f32[8] parameter(0)\n"
          "  %t = (f32[8], s32[]) tuple(%x, %f)\n"
          "  %w = (f32[8], s32[]) while(%t), condition=%cond, body=%body" +
          config + "\n",
      "%cond (p: (f32[8], s32[])) -> pred[] {\n  %p = (f32[8], s32[]) parameter(0)\n"
      "  %i = s32[] get-tuple-element(%p), index=1\n  %n = s32[] constant(" +
          limit +
          ")\n"
          "  ROOT %c = pred[] compare(%i, %n), direction=" +
          direction +
          "\n}\n"
          "%body (q: (f32[8], s32[])) -> (f32[8], s32[]) {\n  %q = (f32[8], s32[]) parameter(0)\n"
          "  %y = f32[8] get-tuple-element(%q), index=0\n  %j = s32[] get-tuple-element(%q), "
          "index=1\n"
          "  %s = s32[] constant(" +
          step +
          ")\n  %k = s32[] add(%s, %j)\n"
          "  ROOT %r = (f32[8], s32[]) tuple(%y, %k)\n}\n");
  return trip_count(module, testing::entry_of(module), testing::instruction_of(module, "w"));
}

TEST_CASE("trip counts follow from known_trip_count or from counters") {
  CHECK(count("0", "1", "32") == 32);
  CHECK(count("2", "3", "10") == 3);
  CHECK(count("5", "1", "5") == 0);
  CHECK(count("-2", "1", "2") == 4);
  CHECK(count("0", "1", "32", ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}") == 7);
}

TEST_CASE("loops count up or down to any comparison that ends them") {
  CHECK(count("0", "1", "32", "", "LE") == 33);
  CHECK(count("10", "-1", "0", "", "GT") == 10);
  CHECK(count("10", "-3", "0", "", "GE") == 4);
  CHECK(count("0", "1", "32", "", "NE") == 32);
  CHECK(count("8", "-2", "0", "", "NE") == 4);
  CHECK(count("5", "1", "5", "", "EQ") == 1);
  CHECK(count("4", "1", "5", "", "EQ") == 0);
  CHECK(count("0", "1", "1000000000") == 1'000'000'000);
}

TEST_CASE("a loop that does not end at a constant has no known trip count") {
  CHECK_FALSE(count("0", "-1", "32"));  // until it wraps around
  CHECK_FALSE(count("x", "1", "32"));
  CHECK_FALSE(count("0", "3", "32", "", "NE"));
  CHECK_FALSE(count("0", "1", "99999999999999999999"));
  CHECK_FALSE(count("0", "1", "2147483647", "", "LE"));
  CHECK_FALSE(count("0", "0", "32"));
}

/// Trip count of a loop over (s32[] counter, s32[] limit, f32[8]) with these lines; the counter
/// starts at 2, the limit at 10. %i and %n are the elements; `%k` is the next counter.
std::optional<std::uint64_t> count_of(const std::string& condition, const std::string& body,
                                      const std::string& before = "",
                                      const std::string& limit = "%n") {
  const std::string type = "(s32[], s32[], f32[8])";
  const std::string elements =
      " parameter(0)\n  %i = s32[] get-tuple-element(%p), index=0\n  %n = s32[] "
      "get-tuple-element(%p), index=1\n";
  const Module module = testing::hlo_module(
      "  %f = s32[] constant(2)\n  %e = s32[] constant(10)\n  %b = s32[] bitcast(%e)\n  %x = "
      "f32[8] "
      "parameter(0)\n  %t = " +
          type + " tuple(%f, %b, %x)\n  %c = " + type + " copy(%t)\n  %w = " + type +
          " while(%c), condition=%cond, body=%body\n",
      before + "%cond (p: " + type + ") -> pred[] {\n  %p = " + type + elements + condition +
          "}\n%body (p: " + type + ") -> " + type + " {\n  %p = " + type + elements + body +
          "  %y = f32[8] get-tuple-element(%p), index=2\n  ROOT %r = " + type + " tuple(%k, " +
          limit + ", %y)\n}\n");
  return trip_count(module, testing::entry_of(module), testing::instruction_of(module, "w"));
}

const std::string kBelow = "  ROOT %c = pred[] compare(%i, %n), direction=LT\n";
const std::string kOne = "  %o = s32[] constant(1)\n";

TEST_CASE("limits pass through the tuple of the loop, copies and bitcasts") {
  CHECK(count_of(kBelow, kOne + "  %k = s32[] add(%i, %o)\n") == 8);
  CHECK(count_of("  ROOT %c = pred[] compare(%n, %i), direction=GT\n",
                 kOne + "  %a = s32[] add(%i, %o)\n  %k = s32[] copy(%a)\n") == 8);
  // A limit that the body changes.
  CHECK(count_of(kBelow, kOne + "  %k = s32[] add(%i, %o)\n", "", "%k") == 1);
  CHECK_FALSE(
      count_of("  %l = s64[] convert(%i)\n  %q = s64[] parameter(1)\n  ROOT %c = pred[] "
               "compare(%l, %q), direction=LT\n",
               kOne + "  %k = s32[] add(%i, %o)\n"));
}

TEST_CASE("a counter that is added to several times, subtracted from or widened") {
  CHECK(count_of(kBelow, kOne + "  %a = s32[] add(%i, %o)\n  %k = s32[] add(%o, %a)\n") == 4);
  CHECK(count_of(kBelow, "  %m = s32[] constant(-3)\n  %k = s32[] subtract(%i, %m)\n") == 3);
  CHECK(
      count_of("  %l = s64[] convert(%i)\n  %u = s64[] constant(50)\n  %s = s64[] constant(3)\n"
               "  %v = s64[] multiply(%l, %s)\n  ROOT %c = pred[] compare(%v, %u), direction=LT\n",
               kOne + "  %k = s32[] add(%i, %o)\n") == 15);
}

TEST_CASE("counters within fusions and calls") {
  const std::string fused =
      "%wrapped_compare (a: s32[], b: s32[]) -> pred[] {\n  %a = s32[] parameter(0)\n  %b = s32[] "
      "parameter(1)\n  ROOT %c = pred[] compare(%a, %b), direction=LT\n}\n"
      "%wrapped_add (d: s32[]) -> s32[] {\n  %d = s32[] parameter(0)\n  %o = s32[] constant(1)\n"
      "  ROOT %s = s32[] add(%d, %o)\n}\n";
  CHECK(count_of("  ROOT %c = pred[] fusion(%i, %n), kind=kLoop, calls=%wrapped_compare\n",
                 "  %k = s32[] fusion(%i), kind=kLoop, calls=%wrapped_add\n", fused) == 8);
  CHECK(count_of("  ROOT %c = pred[] call(%i, %n), to_apply=%wrapped_compare\n",
                 "  %k = s32[] call(%i), to_apply=%wrapped_add\n", fused) == 8);
}

TEST_CASE("other loops of integer scalars run for at most 128 iterations") {
  const std::string twice = "  %t = s32[] constant(2)\n  %k = s32[] multiply(%i, %t)\n";
  CHECK(count_of(kBelow, twice) == 3);  // 2, 4, 8
  CHECK(count_of("  %z = s32[] constant(6)\n  %a = pred[] compare(%i, %n), direction=LT\n  %b = "
                 "pred[] compare(%i, %z), direction=NE\n  ROOT %c = pred[] and(%a, %b)\n",
                 kOne + "  %k = s32[] add(%i, %o)\n") == 4);
  CHECK_FALSE(count_of(kBelow, "  %t = s32[] constant(1)\n  %k = s32[] multiply(%i, %t)\n"));
}

TEST_CASE("a loop over a single array counts it") {
  const Module module = testing::hlo_module(
      "  %f = s32[] constant(0)\n  %w = s32[] while(%f), condition=%cond, body=%body\n",
      "%cond (p: s32[]) -> pred[] {\n  %p = s32[] parameter(0)\n  %n = s32[] constant(6)\n  ROOT "
      "%c "
      "= pred[] compare(%p, %n), direction=LT\n}\n%body (q: s32[]) -> s32[] {\n  %q = s32[] "
      "parameter(0)\n  %o = s32[] constant(2)\n  ROOT %k = s32[] add(%q, %o)\n}\n");
  CHECK(trip_count(module, testing::entry_of(module), testing::instruction_of(module, "w")) == 3);
}

}  // namespace
}  // namespace equarx::hlo::loops_test
