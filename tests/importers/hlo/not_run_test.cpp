#include "importers/hlo/not_run.hpp"

#include "importers/hlo/flow.hpp"
#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::not_run_test {
namespace {

/// Computation NAME with a collective called m.NAME.
std::string sends(const std::string& name, const std::string& length = "8") {
  const std::string type = "f32[" + length + "]";
  return "%" + name + " (x: " + type + ") -> " + type + " {\n  %x = " + type +
         " parameter(0)\n  ROOT %m." + name + " = " + type + " all-reduce(%x), to_apply=%add\n}\n";
}

Skipped notes(const std::string& lines, const std::string& before) {
  return make_flow(testing::hlo_module("  %p = f32[8] parameter(0)\n" + lines, before)).notes;
}

TEST_CASE("a branch that is not taken is noted with its collectives") {
  const Skipped found = notes(
      "  %i = s32[] parameter(1)\n  %c = f32[8] conditional(%i, %p, %p), "
      "branch_computations={%few, %many}\n",
      sends("few") + sends("many", "16"));
  CHECK(
      found.contains("not run, in a branch of conditional 'c' that is assumed not to be taken: "
                     "all-reduce 'm.few'"));
}

TEST_CASE("a loop that runs 0 times is noted, with collectives of fusions within") {
  const Skipped found = notes(
      "  %w = f32[8] while(%p), condition=%cond, body=%body, "
      "backend_config={\"known_trip_count\":{\"n\":\"0\"}}\n",
      "%cond (c: f32[8]) -> pred[] {\n  %c = f32[8] parameter(0)\n  ROOT %t = pred[] "
      "constant(false)\n}\n" +
          sends("in") +
          "%body (b: f32[8]) -> f32[8] {\n  %b = f32[8] parameter(0)\n  ROOT %f = f32[8] "
          "fusion(%b), calls=%in\n}\n");
  CHECK(found == Skipped{{"not run, in loop 'w', which runs 0 times: all-reduce 'm.in'", 1}});
}

TEST_CASE("collectives of a computation that is applied to elements are noted") {
  const Skipped found = notes("  %r = f32[8] map(%p), to_apply=%of\n", sends("of"));
  CHECK(found ==
        Skipped{{"not run, in computation 'of', which map 'r' applies to elements: all-reduce "
                 "'m.of'",
                 1}});
}

TEST_CASE("computations that ENTRY does not reach are not noted") {
  CHECK(notes("  %n = f32[8] negate(%p)\n", sends("unused")).empty());
}

TEST_CASE("a note names fifty collectives, and how many more") {
  std::string body = "%body (x: f32[8]) -> f32[8] {\n  %x = f32[8] parameter(0)\n";
  for (int i = 0; i < 53; ++i) body += "  %s." + std::to_string(i) + " = f32[8] all-to-all(%x)\n";
  const Skipped found = notes("  %r = f32[8] map(%p), to_apply=%body\n", body + "}\n");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found.begin()->first, ContainsSubstring("'s.49' and 3 more"));
  CHECK(found.begin()->second == 53);
}

}  // namespace
}  // namespace equarx::hlo::not_run_test
