#include "experiments/accuracy/report.hpp"

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "tests/catch.hpp"

namespace equarx::accuracy::report_test {
namespace {

using Catch::Contains;

std::vector<MeasuredRow> rows() {
  std::vector<MeasuredRow> rows;
  for (int i = 0; i < 6; ++i)
    rows.push_back({"s", std::to_string(i), "row " + std::to_string(i), i < 3 ? "a" : "b",
                    Question::program, true, 1.0, 1.1});
  rows.push_back({"s", "x", "a fitted one", "a", Question::schedule, false, 1.0, 1.0});
  return rows;
}

TEST_CASE("the table has a line for each question, and rows on request") {
  const std::string table = to_table(rows(), false);
  CHECK_THAT(table, Contains("imported programs"));
  CHECK_THAT(table, Contains("6 of 6 predicted rows (100 %)"));
  CHECK_THAT(table, Contains("unknown"));  // schedules
  CHECK_THAT(table, !Contains("row 3"));
  CHECK_THAT(to_table(rows(), true), Contains("row 3"));
}

TEST_CASE("the sentence on a discrepancy states its evidence, or that there is none") {
  CHECK(discrepancy_text(rows(), Question::program) ==
        "imported programs: 10 % from 6 measured rows of 2 origins");
  CHECK(discrepancy_text(rows(), Question::schedule) ==
        "imported schedules: unknown, too few measured rows");
}

TEST_CASE("reports for programs have classes and rows") {
  const input::Json json = report_json(rows());
  CHECK(json["questions"].size() == 2);
  CHECK(json["questions"][0]["discrepancy"].is_null());
  CHECK(json["questions"][1]["median_error"].get<double>() == Approx(0.1));
  CHECK(json["rows"].size() == 7);
}

TEST_CASE("docs/accuracy.md is that of the rows of this version") {
  CHECK(input::read_file(EQUARX_CONFIGS_DIR "/../docs/accuracy.md") == to_page(built_in_rows()));
}

}  // namespace
}  // namespace equarx::accuracy::report_test
