// A study: sweeps or a script, with expected values for some of their results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/accuracy/question.hpp"
#include "experiments/sweep/points.hpp"

namespace equarx::study {

/// A named sweep of a study.
struct StudyExperiment {
  std::string name;
  sweep::SweepPoints points;
};

/// A program that computes the figures of a study.
struct StudyScript {
  std::vector<std::string> command;  ///< as written: `{output}` is a folder, `{jobs}` a number
  std::string results;               ///< JSON file in that folder
  std::filesystem::path folder;      ///< of the study; scripts are relative to it
};

/// Evidence that a row provides. Calibration and prediction never mix.
enum class Role : std::uint8_t {
  calibration,   ///< none: a parameter of the chip was fitted to the figure
  implied,       ///< little: follows from a calibration and geometry, independently of the model
  prediction,    ///< some: nothing was fitted to it, and plausible parameters could miss it
  closed_form,   ///< correctness of the implementation only: given by a formula
  not_reported,  ///< none: an expectation of this project, not measured so far
};

std::string_view name(Role role);

/// Required relation of the simulated to the expected value.
enum class Relation : std::uint8_t {
  equals,   ///< within the tolerance of the expected value
  at_most,  ///< the expected value is a limit
};

std::string_view name(Relation relation);

/// An expected figure, with the location of its simulated counterpart.
struct StudyRow {
  std::string pointer;  ///< JSON pointer of the row in the study's file, for messages
  std::string id;
  std::string what;
  std::string experiment;                      ///< empty with a script, like `at` and `run`
  std::map<std::string, input::JsonValue> at;  ///< values of the experiment's axes, by pointer
  std::string run;                             ///< label of the collective
  /// A number of the run, like "speedup" or "numerics/mse"; JSON pointer in a script's results.
  std::string metric;
  std::string written_metric;  ///< the name in the file, perhaps one of version 0.2
  Relation relation = Relation::equals;
  double expected = 0.0;  ///< in the unit of the metric
  Role role = Role::prediction;
  double tolerance = 0.0;  ///< relative, 0 or more
  std::optional<double>
      standard_error;  ///< of the expected value, in the unit of the metric, if known
  std::string source;
  /// Class of the question, of rows that count as evidence of accuracy.
  std::optional<accuracy::Question> question;
  std::string origin;  ///< of the measurement; empty: the study
  std::string misses;  ///< cause of a known miss; empty if the figure is expected to be met
};

/// A study: experiments or a script, and expected figures.
struct Study {
  std::string title;
  std::string source;
  std::vector<std::string> notes;
  std::vector<StudyExperiment> experiments;  ///< unique names; none with a script
  std::optional<StudyScript> script;
  std::vector<StudyRow> rows;  ///< unique ids
};

/// Path of the study in a folder.
std::filesystem::path study_file(const std::filesystem::path& folder);

/// Reads `study.json` of a folder (configs/schema/study.schema.json) and the configurations that it
/// names, without the checks of check_study(). @throws InputError with the file and the JSON
/// pointer
Study load_study(const std::filesystem::path& folder);

/// Schema of a study, with annotations.
input::Json study_schema();

}  // namespace equarx::study
