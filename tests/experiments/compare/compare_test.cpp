#include "experiments/compare/compare.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::compare::compare_test {
namespace {

input::Json run_of(const std::string& label, double time_s) {
  return {{"label", label},
          {"time_s", time_s},
          {"speedup", 1.5},
          {"numerics", {{"mse", 0.0}, {"sqnr_db", nullptr}}}};
}

/// A result with the compared members.
input::Json result_of(const std::string& hardware, const std::vector<input::Json>& runs) {
  input::Json json = {{"program", "equarx-sim"},
                      {"version", "1"},
                      {"config", {{"hardware", hardware}, {"collectives", input::Json::array()}}},
                      {"parameters", {{"link_bandwidth", {{"value", hardware + " GB/s"}}}}},
                      {"runs", runs}};
  for (const input::Json& run : runs)
    json["config"]["collectives"].push_back({{"label", run["label"]}, {"format", hardware}});
  return json;
}

Comparison compared(const std::string& a, const std::string& b) {
  const testing::TemporaryDirectory folder;
  return compare(folder.write("a.json", a), folder.write("b.json", b));
}

void check_refused(const std::string& text, const std::string& part) {
  try {
    compared(result_of("x", {}).dump(), text);
    FAIL("no InputError was thrown");
  } catch (const input::InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("/b.json: "));
    CHECK_THAT(error.what(), ContainsSubstring(part));
    CHECK_THAT(error.what(), ContainsSubstring("--json > result.json"));
  }
}

TEST_CASE("differences are located by pointer, collectives by label") {
  const Comparison found = compared(result_of("4", {run_of("p", 2.0), run_of("q", 1.0)}).dump(),
                                    result_of("5", {run_of("q", 4.0), run_of("p", 2.0)}).dump());
  REQUIRE(found.configuration.size() == 3);
  CHECK(found.configuration[0].pointer == "/hardware");
  CHECK(found.configuration[0].a == input::Json("4"));
  CHECK(found.configuration[0].b == input::Json("5"));
  CHECK(found.configuration[1].pointer == "/collectives/p/format");
  REQUIRE(found.parameters.size() == 1);
  CHECK(found.parameters[0].pointer == "/link_bandwidth");
  REQUIRE(found.collectives.size() == 2);
  CHECK(found.collectives[1].label == "q");
  CHECK(found.collectives[1].numbers.front().ratio() == 4.0);
}

TEST_CASE("missing metrics and a base of 0 have no ratio") {
  const Comparison found = compared(result_of("4", {run_of("p", 2.0)}).dump(),
                                    result_of("4", {run_of("q", 4.0)}).dump());
  REQUIRE(found.collectives.size() == 2);
  CHECK(found.collectives[0].in_a);
  CHECK_FALSE(found.collectives[0].in_b);
  CHECK_FALSE(found.collectives[0].numbers[0].ratio());
  CHECK(found.collectives[1].numbers[0].b == 4.0);
  const NumberPair zeros{"numerics/mse", 0.0, 0.0};
  CHECK_FALSE(zeros.ratio());
  for (const NumberPair& pair : found.collectives[0].numbers)
    CHECK(pair.name != "numerics/sqnr_db");
}

TEST_CASE("a result equals itself") {
  const std::string text = result_of("4", {run_of("p", 2.0)}).dump(2);
  const Comparison found = compared(text, text);
  CHECK(found.configuration.empty());
  CHECK(found.parameters.empty());
  CHECK(found.collectives[0].numbers[0].ratio() == 1.0);
}

TEST_CASE("files other than results are refused with how to create one") {
  check_refused(R"({"hardware": "tpu-v5e", "collectives": []})",
                "is a configuration, not a result");
  check_refused("{\"point\": 0, \"axes\": {}}\n{\"point\": 1, \"axes\": {}}\n",
                "holds the points of a sweep");
  for (const std::string text : {"", "[]", "{", "3", R"({"program": "equarx-sim"})"})
    check_refused(text, "is not a result of a run");
  input::Json broken = result_of("4", {run_of("p", 2.0)});
  broken["runs"][0].erase("label");
  check_refused(broken.dump(), "is not a result of a run");
}

}  // namespace
}  // namespace equarx::compare::compare_test
