#include "experiments/accuracy/rows.hpp"

#include <cmath>
#include <set>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/accuracy/summary.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::accuracy::rows_test {
namespace {

using testing::check_refused;

TEST_CASE("rows survive writing and reading") {
  const std::vector<MeasuredRow> rows = {
      {"training", "v7", "a step", "recipes", Question::training, true, 12.0, 13.0, 11.0},
      {"nccl", "a", "another", "logs", Question::gpu_collective, false, 2e-5, 1e-5}};
  const std::vector<MeasuredRow> read = read_rows(to_json(rows));
  REQUIRE(read.size() == 2);
  CHECK(read[0].question == Question::training);
  CHECK(read[0].null_model == 11.0);
  CHECK(read[0].error() == Approx(std::log(13.0 / 12.0)));
  CHECK(read[1].simulated == 1e-5);
  CHECK_FALSE(read[1].predicted);
  CHECK_FALSE(read[1].null_model);
}

TEST_CASE("results of a study give its measured rows") {
  const std::vector<MeasuredRow> rows = rows_of_study(input::parse_json(R"({"title": "t", "rows": [
      {"id": "a", "what": "A", "role": "prediction", "expected": 2, "simulated": 3, "null_model": 1,
       "question": "serving", "origin": "logs"},
      {"id": "b", "what": "B", "role": "calibration", "expected": 2, "simulated": 2,
       "question": "serving"},
      {"id": "no question", "role": "prediction", "expected": 2, "simulated": 2},
      {"id": "failed", "role": "prediction", "expected": 2, "simulated": null,
       "question": "serving"}]})"),
                                                      "mine");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].origin == "logs");
  CHECK(rows[0].predicted);
  CHECK(rows[0].null_model == 1.0);
  CHECK(rows[1].origin == "mine");
  CHECK_FALSE(rows[1].predicted);
}

TEST_CASE("files without rows and unknown questions are rejected") {
  CHECK_THROWS_WITH(rows_of_study(input::parse_json("{}"), "x"),
                    Catch::StartsWith("has no rows; name the results of a study"));
  check_refused(
      [] { rows_of_study(input::parse_json(R"({"rows": [{"question": "servin"}]})"), "x"); },
      "/rows/0/question", "did you mean 'serving'?");
  check_refused([] { read_rows(input::parse_json(R"({"rows": [{"study": 1}]})")); },
                "/rows/0/study", "expected a string");
}

TEST_CASE("the rows of this version have unique names and both roles") {
  std::set<std::string> names;
  std::size_t predicted = 0;
  for (const MeasuredRow& row : built_in_rows()) {
    CAPTURE(row.study, row.id);
    CHECK(names.insert(row.study + "/" + row.id).second);
    CHECK(std::isfinite(row.error()));
    predicted += row.predicted ? 1 : 0;
  }
  CHECK(predicted > 50);
  CHECK(predicted < built_in_rows().size());
}

}  // namespace
}  // namespace equarx::accuracy::rows_test
