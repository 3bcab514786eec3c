// Results of the validation study, row by row.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/study/study.hpp"
#include "tests/catch.hpp"
#include "tests/support/studies.hpp"

namespace equarx::invariants::validation_study_test {
namespace {

const std::string kFolder = EQUARX_SOURCE_DIR "/experiments/studies/validation";

/// The study; its chip and model are relative to the repository's root, independent of the test's
/// working directory.
study::Study load_validation() {
  study::Study study = study::load_study(kFolder);
  for (study::StudyExperiment& experiment : study.experiments) {
    sweep::Sweep sweep = experiment.points.sweep();
    if ((*sweep.base)["hardware"].get<std::string>().ends_with(".json"))
      (*sweep.base)["hardware"] = kFolder + "/ideal_chip.json";
    if (sweep.base->contains("workload"))
      (*sweep.base)["workload"]["model"] = kFolder + "/maxtext_32b.json";
    experiment.points = sweep::SweepPoints(std::move(sweep));
  }
  return study;
}

TEST_CASE("no row of the validation study misses but those named in its README") {
  const std::vector<std::string> named = {"all-reduce-6MiB"};
  const testing::StudyRun run(load_validation());
  CHECK(run.failures().empty());
  for (const study::StudyOutcome& outcome : run.outcomes())
    if (std::ranges::find(named, outcome.row.id) == named.end()) {
      CAPTURE(outcome.row.id);
      CHECK(outcome.within_tolerance());
    }
}

TEST_CASE("the validation study documents its rows, and is strict about formulas") {
  const study::Study study = study::load_study(kFolder);
  CHECK(std::ranges::count(study.rows, study::Role::calibration, &study::StudyRow::role) == 13);
  CHECK(std::ranges::count(study.rows, study::Role::prediction, &study::StudyRow::role) == 8);
  for (const study::StudyRow& row : study.rows) {
    CAPTURE(row.id);
    if (row.role == study::Role::closed_form && row.id != "torus-bound")
      CHECK(row.tolerance <= 1e-5);
    if (row.role != study::Role::closed_form) CHECK(row.standard_error);
    CHECK(row.source.starts_with("closed form: ") == (row.role == study::Role::closed_form));
  }
}

}  // namespace
}  // namespace equarx::invariants::validation_study_test
