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

TEST_CASE("a loop that does not count up has no known trip count") {
  CHECK_FALSE(count("0", "-1", "32"));
  CHECK_FALSE(count("x", "1", "32"));
  CHECK_FALSE(count("0", "1", "32", "", "NE"));
  CHECK_FALSE(count("0", "1", "99999999999999999999"));
}

}  // namespace
}  // namespace equarx::hlo::loops_test
