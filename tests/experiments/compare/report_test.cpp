#include "experiments/compare/report.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::compare::report_test {
namespace {

Comparison made_up() {
  return {
      .a = "a.json",
      .b = "b.json",
      .version_a = "1",
      .version_b = "2",
      .configuration = {{"/hardware", input::Json("tpu-v5e"), input::Json("tpu-v6e")},
                        {"/faults/seed", {}, input::Json(3)}},
      .parameters = {},
      .collectives = {{"q", true, true, {{"time_s", 2e-6, 1e-6}, {"numerics/sqnr_db", 40.0, 37.0}}},
                      {"new", false, true, {{"time_s", std::nullopt, 1e-6}}}}};
}

TEST_CASE("the table has both values, their ratio, and items of one side only") {
  const std::string table = to_table(made_up());
  CHECK_THAT(table, ContainsSubstring("A: a.json\nB: b.json\n"));
  CHECK_THAT(table, Catch::Matchers::Matches(
                        R"([\s\S]*/hardware +tpu-v5e +tpu-v6e\n +/faults/seed +- +3\n[\s\S]*)"));
  CHECK_THAT(table,
             Catch::Matchers::Matches(R"([\s\S]*q +time +2\.000 us +1\.000 us +0\.500\n[\s\S]*)"));
  CHECK_THAT(table,
             Catch::Matchers::Matches(R"([\s\S]*SQNR +40\.00 dB +37\.00 dB +-3\.00 dB\n[\s\S]*)"));
  CHECK_THAT(table, ContainsSubstring("Only B has the collective 'new'."));
  CHECK_THAT(table, ContainsSubstring("different program versions: 1 and 2"));
}

TEST_CASE("the table reports equal configurations") {
  Comparison same = made_up();
  same.configuration.clear();
  CHECK_THAT(to_table(same), ContainsSubstring("The configurations are the same."));
}

TEST_CASE("the JSON has the same content, with null for missing values") {
  const input::Json json = to_json(made_up());
  CHECK(json["configuration"][1] ==
        input::Json{{"pointer", "/faults/seed"}, {"a", nullptr}, {"b", 3}});
  CHECK(json["collectives"][0]["numbers"][0]["ratio"] == 0.5);
  CHECK(json["collectives"][1]["numbers"][0]["a"].is_null());
  CHECK(json["b"] == input::Json{{"file", "b.json"}, {"version", "2"}});
}

}  // namespace
}  // namespace equarx::compare::report_test
