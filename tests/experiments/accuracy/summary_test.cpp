#include "experiments/accuracy/summary.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::accuracy::summary_test {
namespace {

MeasuredRow row(const std::string& origin, double ratio, bool predicted = true) {
  return {"study", "", "", origin, Question::serving, predicted, 1.0, ratio};
}

TEST_CASE("errors of predicted rows are summarized, those of fitted rows counted") {
  std::vector<MeasuredRow> rows = {row("a", 1.1), row("a", 0.8), row("b", 1.5),
                                   row("b", 9.0, false)};
  rows[0].null_model = 0.5;
  const std::vector<Summary> all = summarize(rows);
  REQUIRE(all.size() == 1);
  const Summary& summary = all.front();
  CHECK(summary.question == Question::serving);
  CHECK(summary.predicted == 3);
  CHECK(summary.fitted == 1);
  CHECK(summary.origins == 2);
  CHECK(summary.median_error == Approx(0.2));
  CHECK(summary.ninth_decile == Approx(0.2 + 0.8 * 0.3));
  CHECK(summary.bias == Approx(std::log(1.1 * 0.8 * 1.5) / 3.0));
  CHECK(summary.null_median_error == Approx(0.5));
  const double a = std::log(1.1);
  const double b = std::log(0.8);
  const double c = std::log(1.5);
  CHECK(summary.spread == Approx(std::sqrt((a * a + b * b + c * c) / 3.0)));
  // Rows of a are within the error of b, which is not within those of a.
  CHECK(summary.coverable == 3);
  CHECK(summary.covered == 2);
}

TEST_CASE("a discrepancy needs five predicted rows of two origins") {
  std::vector<MeasuredRow> rows(4, row("a", 1.2));
  rows.push_back(row("b", 5.0, false));
  CHECK_FALSE(discrepancy(rows, Question::serving));
  rows.push_back(row("a", 1.2));
  CHECK_FALSE(discrepancy(rows, Question::serving));
  rows.push_back(row("b", 1.2));
  const Discrepancy known = discrepancy(rows, Question::serving).value();
  CHECK(known.spread == Approx(std::log(1.2)));
  CHECK(known.rows == 6);
  CHECK(known.origins == 2);
  CHECK_FALSE(discrepancy(rows, Question::training));
}

TEST_CASE("rows of a single origin cover none") {
  const std::vector<MeasuredRow> rows = {row("a", 1.1), row("a", 1.1)};
  CHECK(summarize(rows).front().coverable == 0);
}

}  // namespace
}  // namespace equarx::accuracy::summary_test
