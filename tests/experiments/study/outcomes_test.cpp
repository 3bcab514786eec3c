#include "experiments/study/outcomes.hpp"

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/result/json.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::outcomes_test {
namespace {

using namespace testing;

TEST_CASE("rows have bit for bit the figures of a separate run") {
  input::Json json = study_json();
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["run"] = "int8";
  json["rows"][1]["metric"] = "numerics/mse_vs_baseline";
  StudyRun run(StudyFolder(json).load());
  CHECK(run.status().points == 4);
  CHECK(run.failures().empty());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].figure.simulated == 1.0);
  CHECK(outcomes[0].within_tolerance());
  const run::ExperimentResult alone = testing::run(run.points().config(3));
  CHECK(outcomes[1].figure.simulated == alone.runs[1].numerics->against_baseline->mse);
}

TEST_CASE("rows have the chip of their figure, and its calibration flag") {
  input::Json json = study_json();
  json["experiments"][0]["config"] = {
      {"hardware", "tpu-v5e"},
      {"topology", {{"mesh", "4x2"}}},
      {"tensor", {{"bytes", "64 KiB"}}},
      {"collectives", {{{"label", "bf16"}, {"algorithm", "ring"}}}}};
  json["experiments"][0]["vary"] = {{{"key", "/hardware"}, {"values", {"tpu-v5e", "tpu-v4"}}}};
  json["rows"][0]["at"] = {{"/hardware", "tpu-v5e"}};
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["at"]["/hardware"] = "tpu-v4";
  StudyRun run(StudyFolder(json).load());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  CHECK(outcomes[0].figure.hardware == "tpu-v5e");
  CHECK(outcomes[0].figure.calibrated == true);
  CHECK(outcomes[1].figure.hardware == "tpu-v4");
  CHECK(outcomes[1].figure.calibrated == false);
}

TEST_CASE("a row without computed point has no figure, and is not within its tolerance") {
  input::Json json = study_json();
  json["experiments"][0]["vary"][1]["values"] = {{{"slice", "4x2"}}, {{"mesh", "3x3"}}};
  json["experiments"][0]["vary"][1]["key"] = "/topology";  // 3x3 has no ring
  json["rows"][0]["at"] = {{"/tensor/bytes", "128 KiB"}, {"/topology", {{"mesh", "3x3"}}}};
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["at"]["/topology"] = {{"slice", "4x2"}};
  StudyRun run(StudyFolder(json).load());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  REQUIRE(outcomes.size() == 2);
  CHECK_FALSE(outcomes[0].figure.simulated);
  CHECK_FALSE(outcomes[0].ratio());
  CHECK_FALSE(outcomes[0].within_tolerance());
  CHECK(outcomes[1].within_tolerance());
  const std::vector<std::string> failed = run.failures();
  REQUIRE(failed.size() == 2);
  CHECK_THAT(failed[1],
             Catch::Matchers::StartsWith(
                 R"(experiment 'sizes' /tensor/bytes="128 KiB" /topology={"mesh":"3x3"}: )"));
}

TEST_CASE("a run that fails has no time to compare") {
  input::Json json = study_json();
  json["experiments"][0]["vary"] = {
      {{"key", "/faults"},
       {"values", {{{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "1 us"}}}}}}}}};
  json["rows"][0]["at"] = {{"/faults", json["experiments"][0]["vary"][0]["values"][0]}};
  json["rows"][0]["metric"] = "time_s";
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["metric"] = "failure/time_s";
  StudyRun run(StudyFolder(json).load());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  CHECK_FALSE(outcomes[0].figure.simulated);
  CHECK(outcomes[1].figure.simulated >= 1e-6);
  CHECK(run.failures().empty());
}

TEST_CASE("the null model is the lower bound, and for speedups a ratio of two") {
  input::Json json = study_json();
  json["rows"][0]["run"] = "int8";
  json["rows"].push_back(json["rows"][0]);
  json["rows"][1]["id"] = "b";
  json["rows"][1]["metric"] = "time_s";
  json["rows"].push_back(json["rows"][0]);
  json["rows"][2]["id"] = "c";
  json["rows"][2]["metric"] = "numerics/mse";
  StudyRun run(StudyFolder(json).load());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  const run::ExperimentResult alone = testing::run(run.points().config(3));
  CHECK(outcomes[0].figure.null_model ==
        Approx(alone.runs[0].lower_bound_s / alone.runs[1].lower_bound_s));
  CHECK(outcomes[1].figure.null_model == alone.runs[1].lower_bound_s);
  CHECK_FALSE(outcomes[2].figure.null_model);
  CHECK_FALSE(outcomes[0].figure.interval);
  CHECK_FALSE(outcomes[0].within_interval());
}

TEST_CASE("rows have intervals if the experiment requests uncertainty") {
  input::Json json = study_json();
  json["experiments"][0]["vary"].push_back({{"key", "/uncertainty/samples"}, {"values", {10}}});
  json["rows"][0]["at"]["/uncertainty/samples"] = 10;
  json["rows"][0]["run"] = "int8";
  StudyRun run(StudyFolder(json).load());
  const std::vector<StudyOutcome> outcomes = run.outcomes();
  REQUIRE(outcomes[0].figure.interval);
  const run::ExperimentResult alone = testing::run(run.points().config(3));
  CHECK(outcomes[0].figure.interval->low == alone.runs[1].uncertainty->speedup.low);
  CHECK(outcomes[0].figure.interval->high == alone.runs[1].uncertainty->speedup.high);
}

TEST_CASE("interval and measurement error are combined") {
  StudyOutcome outcome;
  outcome.row.expected = 2.0;
  outcome.figure = {2.5, std::nullopt, FigureInterval{2.2, 2.6}};
  CHECK(outcome.within_interval() == false);  // 0.5 away, 0.3 on that side
  outcome.row.standard_error = 0.5;
  CHECK(outcome.within_interval() == true);
  outcome.row.standard_error = 0.39;
  CHECK(outcome.within_interval() == false);
  outcome.row.expected = 2.59;
  outcome.row.standard_error = std::nullopt;
  CHECK(outcome.within_interval() == true);  // 0.1 on the other side
  outcome.row.relation = Relation::at_most;
  CHECK_FALSE(outcome.within_interval());
}

TEST_CASE("figures are within if they meet their tolerance or limit") {
  StudyOutcome outcome;
  outcome.row.expected = 2.0;
  outcome.row.tolerance = 0.05;
  outcome.figure.simulated = 2.09;
  CHECK(outcome.within_tolerance());
  outcome.figure.simulated = 2.11;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.figure.simulated = 1.89;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.row.relation = Relation::at_most;
  CHECK(outcome.within_tolerance());
  outcome.row.tolerance = 0.0;
  outcome.figure.simulated = 2.01;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.figure.simulated.reset();
  CHECK_FALSE(outcome.within_tolerance());
}

TEST_CASE("a known miss is as known only while it misses") {
  StudyRow row;
  row.expected = 2.0;
  row.tolerance = 0.1;
  CHECK(StudyOutcome{row, {2.1, {}, {}}}.as_known());
  CHECK_FALSE(StudyOutcome{row, {2.3, {}, {}}}.as_known());
  row.misses = "a cost is not modelled";
  CHECK_FALSE(StudyOutcome{row, {2.1, {}, {}}}.as_known());
  CHECK(StudyOutcome{row, {2.3, {}, {}}}.as_known());
  CHECK_FALSE(StudyOutcome{row, {}}.as_known());  // a missing figure is no known miss
}

}  // namespace
}  // namespace equarx::study::outcomes_test
