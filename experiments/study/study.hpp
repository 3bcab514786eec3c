// A study: experiments over a range of configurations, and what was expected of them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::study {

/// A configuration, and the values that some of its keys take in turn (all combinations).
struct StudyExperiment {
  std::string name;
  input::JsonValue config;
  struct Axis {
    std::string pointer;  ///< JSON pointer of the key
    std::vector<input::JsonValue> values;
  };
  std::vector<Axis> axes;
};

/// Whether a row's figure was used to fit a parameter. Calibration and prediction never mix, and a figure
/// that a formula gives is neither.
enum class Role : std::uint8_t { calibration, prediction, closed_form };

std::string_view name(Role role);

enum class Relation : std::uint8_t {
  equals,   ///< within the tolerance of the expected value
  at_most,  ///< the expected value is a limit
};

/// One reported figure and where its simulated counterpart is found.
struct StudyRow {
  std::string id;
  std::string what;
  std::string experiment;
  std::map<std::string, input::JsonValue> at;  ///< values of the experiment's axes, by pointer
  std::string run;                             ///< label of the collective
  std::string metric;  ///< a number of the result, like "speedup" or "numerics/mse"
  Relation relation = Relation::equals;
  double expected = 0.0;
  Role role = Role::prediction;
  double tolerance = 0.0;  ///< relative
  std::string source;
};

struct Study {
  std::string title;
  std::string source;
  std::vector<std::string> notes;
  std::vector<StudyExperiment> experiments;
  std::vector<StudyRow> rows;
};

/// Reads `study.json` of a folder, and the configurations that it names.
/// @throws InputError naming the file and the place in it.
Study load_study(const std::filesystem::path& folder);

/// One run of an experiment at one combination of its axes' values.
struct StudyPoint {
  std::string experiment;
  std::map<std::string, input::JsonValue> at;
  run::ExperimentResult result;
};

struct StudyOutcome {
  StudyRow row;
  double simulated = 0.0;

  /// Simulated / expected.
  double ratio() const { return simulated / row.expected; }
  bool within_tolerance() const;
};

struct StudyResult {
  Study study;
  std::vector<StudyPoint> points;
  std::vector<StudyOutcome> outcomes;
};

/// Runs everything. @throws InputError for a configuration or a row that is wrong.
StudyResult run_study(const Study& study, const run::Progress& progress);

}  // namespace equarx::study
