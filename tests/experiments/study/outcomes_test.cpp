#include "experiments/study/outcomes.hpp"

#include "experiments/config/json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/result/json.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study {
namespace {

using namespace testing;

TEST_CASE("rows get the figures that the same configuration gives alone, bit by bit") {
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
  CHECK(outcomes[0].simulated == 1.0);
  CHECK(outcomes[0].within_tolerance());
  const run::ExperimentResult alone = testing::run(run.points().config(3));
  CHECK(outcomes[1].simulated == alone.runs[1].numerics->against_baseline->mse);
}

TEST_CASE("what no point has computed is no figure, and not within") {
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
  CHECK_FALSE(outcomes[0].simulated);
  CHECK_FALSE(outcomes[0].ratio());
  CHECK_FALSE(outcomes[0].within_tolerance());
  CHECK(outcomes[1].within_tolerance());
  const std::vector<std::string> failed = run.failures();
  REQUIRE(failed.size() == 2);
  CHECK_THAT(failed[1],
             Catch::Matchers::StartsWith(
                 R"(experiment 'sizes' /tensor/bytes="128 KiB" /topology={"mesh":"3x3"}: )"));
}

TEST_CASE("a run that a broken link ends has no time to compare") {
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
  CHECK_FALSE(outcomes[0].simulated);
  CHECK(outcomes[1].simulated >= 1e-6);
  CHECK(run.failures().empty());
}

TEST_CASE("tolerances and limits decide what is within") {
  StudyOutcome outcome;
  outcome.row.expected = 2.0;
  outcome.row.tolerance = 0.05;
  outcome.simulated = 2.09;
  CHECK(outcome.within_tolerance());
  outcome.simulated = 2.11;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.simulated = 1.89;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.row.relation = Relation::at_most;
  CHECK(outcome.within_tolerance());
  outcome.row.tolerance = 0.0;
  outcome.simulated = 2.01;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.simulated.reset();
  CHECK_FALSE(outcome.within_tolerance());
}

}  // namespace
}  // namespace equarx::study
