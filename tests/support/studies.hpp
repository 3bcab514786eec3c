// Base studies for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/outcomes.hpp"
#include "experiments/study/points.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/runner.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::testing {

/// A small study: one experiment of four points, and one row.
inline input::Json study_json() {
  return input::parse_json(R"({"title": "A study", "source": "nobody", "notes": ["a note"],
    "experiments": [{"name": "sizes", "config": "config.json", "vary": [
      {"key": "/tensor/bytes", "values": ["64 KiB", "128 KiB"]},
      {"key": "/topology/slice", "values": ["2x2", "4x2"]}]}],
    "rows": [{"id": "a", "what": "speed, \"quoted\"", "experiment": "sizes",
      "at": {"/topology/slice": "4x2", "/tensor/bytes": "128 KiB"}, "run": "bf16",
      "metric": "speedup", "expected": 1.0, "role": "calibration", "tolerance": 0.01,
      "source": "s"}]})");
}

/// A folder with a study in study.json and its config.json.
struct StudyFolder : TemporaryFolder {
  explicit StudyFolder(const input::Json& study = study_json()) {
    testing::write(path() / "config.json",
                   R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
      "tensor": {"bytes": "64 KiB"}, "collectives": [{"label": "bf16", "algorithm": "ring"},
      {"label": "int8", "algorithm": "equarx"}]})");
    write(study);
  }

  void write(const input::Json& study) const {
    testing::write(path() / "study.json", study.dump());
  }
  study::Study load() const { return study::load_study(path()); }
};

/// Results of a study, run into its own folder.
class StudyRun {
 public:
  explicit StudyRun(study::Study read)
      : study_(std::move(read)), points_(study_), store_(folder_.path()) {
    store_.open();
    const auto quiet = [](const sweep::SweepStatus&) {};
    outcome_ = run_sweep(points_, store_, {.jobs = 1, .shard = {}, .retry = false}, quiet);
  }

  const study::Study& study() const { return study_; }
  const study::StudyPoints& points() const { return points_; }
  const std::vector<sweep::KeyedPoint>& keyed() const { return outcome_.keyed; }
  sweep::SweepStore& store() { return store_; }
  const sweep::SweepStatus& status() const { return outcome_.status; }

  std::vector<study::StudyOutcome> outcomes() const {
    return study::compare(study_, points_, outcome_.keyed, store_);
  }
  std::vector<std::string> failures() const {
    return study::failures(points_, outcome_.keyed, store_);
  }

 private:
  TemporaryFolder folder_;
  study::Study study_;
  study::StudyPoints points_;
  sweep::SweepStore store_;
  sweep::SweepOutcome outcome_;
};

}  // namespace equarx::testing
