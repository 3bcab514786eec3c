#include "experiments/study/report.hpp"

#include <algorithm>
#include <sstream>

#include "base/input/json.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::report_test {
namespace {

using namespace testing;

/// A simulated row, and one whose point failed.
std::vector<StudyOutcome> outcomes_of(const Study& study) {
  StudyOutcome failed{study.rows[0], {}};
  failed.row.id = "b";
  return {{study.rows[0], {1.0, 0.5, FigureInterval{0.75, 1.25}, "tpu-v4", false}}, failed};
}

TEST_CASE("the table compares expected and simulated figures, with a dash for failed ones") {
  const Study study = StudyFolder().load();
  const std::string table = to_table(study, outcomes_of(study));
  CHECK_THAT(table, Catch::Matchers::StartsWith("A study\n(nobody)\n"));
  CHECK_THAT(table, ContainsSubstring("1.000  calibration  yes (1 %)\n"));
  CHECK_THAT(table, ContainsSubstring("-  calibration   NO (1 %)\n"));
  CHECK_THAT(table, ContainsSubstring("a note"));
}

TEST_CASE("the summary counts predictions only") {
  input::Json json = study_json();
  json["rows"][0]["role"] = "prediction";
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["role"] = "implied";
  const Study study = StudyFolder(json).load();
  const std::vector<StudyOutcome> outcomes = {
      {study.rows[0], {1.0, 0.5, FigureInterval{0.75, 1.25}}}, {study.rows[1], {9.0, 9.0, {}}}};
  const std::string table = to_table(study, outcomes);
  CHECK_THAT(table, ContainsSubstring("0.75 to 1.25"));
  CHECK_THAT(table, ContainsSubstring("within their tolerance: 1 of 1"));
  CHECK_THAT(table, ContainsSubstring("(lower bound alone, times and speedups only): 0 of 1"));
  CHECK_THAT(table, ContainsSubstring("68 % interval and measurement error: 1 of 1"));
  CHECK_THAT(table, ContainsSubstring("null model") && !ContainsSubstring("In rows.csv only"));
}

TEST_CASE("the table of a study has at most 120 columns, and names those that it leaves out") {
  input::Json json = study_json();
  json["rows"][0]["what"] = std::string(50, 'x');
  const Study study = StudyFolder(json).load();
  const std::string table =
      to_table(study, {{study.rows[0], {1.0, 0.5, FigureInterval{0.75, 1.25}}}});
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
  CHECK_THAT(table, ContainsSubstring("In rows.csv only: null model.\n") &&
                        ContainsSubstring("68 % interval"));
}

TEST_CASE("a study may have no rows") {
  input::Json json = study_json();
  json["rows"] = input::Json::array();
  const Study study = StudyFolder(json).load();
  CHECK_THAT(to_table(study, {}), ContainsSubstring("no reported figures to compare with") &&
                                      ContainsSubstring("a note") &&
                                      !ContainsSubstring("tolerance"));
  const TemporaryFolder folder;
  write_report(study, {}, folder.path());
  CHECK(std::ranges::count(content(folder.path() / "rows.csv"), '\n') == 1);
}

TEST_CASE("a report consists of complete CSV and JSON files") {
  const Study study = StudyFolder().load();
  const TemporaryFolder folder;
  const std::filesystem::path output = folder.path() / "results" / "deep";
  const auto files = write_report(study, outcomes_of(study), output);
  CHECK(files == std::vector{output / "rows.csv", output / "study.json"});
  CHECK(content(output / "rows.csv") ==
        "id,what,metric,kind,expected,simulated,ratio,role,tolerance,within,null_model,"
        "null_within,low,high,standard_error,within_interval,hardware,calibrated,source,misses\n"
        "a,\"speed, "
        "\"\"quoted\"\"\",speedup,equals,1,1,1,calibration,0.01,yes,0.5,no,0.75,1.25,,yes,"
        "tpu-v4,no,s,\n"
        "b,\"speed, \"\"quoted\"\"\",speedup,equals,1,,,calibration,0.01,no,,,,,,,,,s,\n");
  const input::Json json = input::parse_json(content(output / "study.json"));
  CHECK(json["title"] == "A study");
  REQUIRE(json["rows"].size() == 2);
  CHECK(json["rows"][0]["within_tolerance"] == true);
  CHECK(json["rows"][1]["within_tolerance"] == false);
  CHECK(json["rows"][1]["simulated"].is_null());
  for (const auto& entry : std::filesystem::directory_iterator(output))
    CHECK(entry.path().extension() != ".partial");
  CHECK_THROWS_WITH(write_report(study, {}, "/proc/nowhere"), ContainsSubstring("/proc/nowhere"));
}

}  // namespace
}  // namespace equarx::study::report_test
