#include "importers/common/audit_report.hpp"

#include <sstream>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/importers/common/audits.hpp"

namespace equarx::imports::audit_report_test {
namespace {

TEST_CASE("a finding is printed with place, bytes, times, reason and remedy") {
  const testing::Audited made = testing::audited(testing::wide_gather());
  const std::string text = to_text(made.audit, made.program);
  CHECK_THAT(text, ContainsSubstring("Audit of wide: 2 findings, largest saving first"));
  CHECK_THAT(text,
             ContainsSubstring("wide-type: a wider type on the wire than in the values; saves "));
  CHECK_THAT(
      text,
      ContainsSubstring(
          "g (all-gather, f32): 64.00 MiB each, 1 x, 64.00 MiB in total, 32.00 MiB too many;"));
  CHECK_THAT(text, ContainsSubstring("At:  jit(f)/gather (f.py:3)\n"));
  CHECK_THAT(text, ContainsSubstring("Why: Its input is bf16 widened to f32"));
  CHECK_THAT(text, ContainsSubstring("Do:  Move bf16"));
  CHECK_THAT(text, ContainsSubstring("Rules: wide-type, half-sum, casts"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
}

TEST_CASE("a program without findings is told apart from one that was not audited") {
  const testing::Audited made = testing::audited(
      "HloModule m, is_scheduled=true, num_partitions=8\nENTRY %main () -> f32[8] {\n"
      "  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)\n}\n");
  CHECK_THAT(to_text(made.audit, made.program),
             ContainsSubstring("Audit of m: no findings.\n  Rules: wide-type"));
  CHECK(to_json(made.audit)["findings"].empty());
  CHECK(to_json(made.audit)["rules"].size() == kAuditRules.size());
}

TEST_CASE("JSON has the same numbers as the text") {
  const testing::Audited made = testing::audited(testing::wide_gather());
  const input::Json json = to_json(made.audit);
  REQUIRE(json["findings"].size() == 2);
  const input::Json& first = json["findings"][0];
  CHECK(first["rule"] == "wide-type");
  CHECK(first["place"] == "f.py:3");
  CHECK(first["total_bytes"] == 67108864.0);
  CHECK(first["excess_bytes"] == 33554432.0);
  CHECK(first["simulated"] == true);
  CHECK(first["time_s"].get<double>() + first["saved_s"].get<double>() ==
        Approx(json["step_s"].get<double>()));
  CHECK(first["collectives"][0]["group"] == "g");
  CHECK(json["findings"][1]["time_s"].is_null());
}

}  // namespace
}  // namespace equarx::imports::audit_report_test
