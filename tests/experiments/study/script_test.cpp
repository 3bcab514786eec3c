#include "experiments/study/script.hpp"

#include <tuple>

#include "experiments/study/outcomes.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::script_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

StudyScript script_in(const fs::path& folder) {
  return {.command = {"sh", "run.sh", "--to={output}", "{jobs}"},
          .results = "results.json",
          .folder = folder};
}

StudyRow row_of(const std::string& metric) {
  StudyRow row;
  row.pointer = "/rows/0";
  row.id = "a";
  row.metric = metric;
  return row;
}

TEST_CASE("a script's command has its folders") {
  const TemporaryFolder folder;
  const std::vector<std::string> command = script_command(script_in(folder.path()), "/out", 3);
  CHECK(command ==
        std::vector<std::string>{"sh", (folder.path() / "run.sh").string(), "--to=/out", "3"});
}

TEST_CASE("a script or a program that is missing is refused") {
  const TemporaryFolder folder;
  StudyScript script = script_in(folder.path());
  check_refused([&] { check_script(script); }, "/script/command/1", "relative to the study");
  write(folder.path() / "run.sh", "");
  CHECK_NOTHROW(check_script(script));
  for (const std::string program : {"no-such-program", "/no/such/program"}) {
    script.command[0] = program;
    check_refused([&] { check_script(script); }, "/script/command/0",
                  "'" + program + "' is not found on PATH");
  }
}

TEST_CASE("results of a script are numbers at JSON pointers") {
  const input::Json results = input::parse_json(
      R"({"methods": {"a/b": {"bits": 3}, "RTN": {"bits": 4, "name": "x", "none": null}},
      "list": [1.5, 2]})");
  CHECK(number_in_results(row_of("/methods/a~1b/bits"), results) == 3.0);
  CHECK(number_in_results(row_of("/list/0"), results) == 1.5);
  const std::vector<std::tuple<std::string, std::string>> mistakes = {
      {"/method", "there is no 'method' in the results; available: methods, list"},
      {"/methods/RNT/bits", "no 'RNT' in /methods of the results; available: a/b, RTN"},
      {"/methods/RTN", "/methods/RTN of the results is an object, not a number"},
      {"/methods/RTN/name", "is a string, not a number"},
      {"/methods/RTN/none", "is null, not a number"},
      {"/methods/RTN/bits/0", "is a number, without '0'"},
      {"/list/2", "no '2' among the 2 elements of /list of the results"},
      {"/list/-1", "no '-1'"},
      {"/list/0x", "no '0x'"}};
  for (const auto& [metric, remedy] : mistakes) {
    CAPTURE(metric);
    const StudyRow row = row_of(metric);
    check_refused([&] { number_in_results(row, results); }, "/rows/0/metric", remedy);
  }
}

TEST_CASE("rows of a script are compared with its results") {
  Study study;
  study.rows = {row_of("/x"), row_of("/y")};
  for (StudyRow& row : study.rows) {
    row.expected = 2.0;
    row.tolerance = 0.1;
  }
  const auto outcomes = compare(study, input::Json{{"x", 2.1}, {"y", 3}});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].within_tolerance());
  CHECK(outcomes[0].figure.simulated == 2.1);
  CHECK_FALSE(outcomes[1].within_tolerance());
}

TEST_CASE("results that are missing or no JSON are refused with their file") {
  const TemporaryFolder folder;
  const StudyScript script = script_in(folder.path());
  const std::string file = (folder.path() / "results.json").string();
  check_refused([&] { script_results(script, folder.path()); }, file, "wrote no such file");
  write(folder.path() / "results.json", "{");
  check_refused([&] { script_results(script, folder.path()); }, file, "not valid JSON");
  write(folder.path() / "results.json", R"({"x": 1})");
  CHECK(script_results(script, folder.path()).at("x") == 1);
}

}  // namespace
}  // namespace equarx::study::script_test
