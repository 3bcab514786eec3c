// A study: sweeps, and what was expected of some of their points.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "experiments/sweep/points.hpp"

namespace equarx::study {

/// One sweep of a study, by its name.
struct StudyExperiment {
  std::string name;
  sweep::SweepPoints points;
};

/// What a row proves. Calibration and prediction never mix.
enum class Role : std::uint8_t {
  calibration,   ///< a parameter of the chip was fitted to the figure: nothing
  implied,       ///< it follows from a calibration and geometry, whatever the model adds: little
  prediction,    ///< nothing was fitted to it, and plausible parameters would miss it: something
  closed_form,   ///< a formula gives it: that the simulator computes what the model says
  not_reported,  ///< nobody has measured it: what this project expects
};

std::string_view name(Role role);

/// How a simulated value must be to the expected one.
enum class Relation : std::uint8_t {
  equals,   ///< within the tolerance of the expected value
  at_most,  ///< the expected value is a limit
};

std::string_view name(Relation relation);

/// One expected figure and where its simulated counterpart is found.
struct StudyRow {
  std::string pointer;  ///< JSON pointer of the row in the study's file, for messages
  std::string id;
  std::string what;
  std::string experiment;
  std::map<std::string, input::JsonValue> at;  ///< values of the experiment's axes, by pointer
  std::string run;                             ///< label of the collective
  std::string metric;  ///< a number of the run, like "speedup" or "numerics/mse"
  Relation relation = Relation::equals;
  double expected = 0.0;  ///< in the unit of the metric
  Role role = Role::prediction;
  double tolerance = 0.0;  ///< relative, 0 or more
  std::optional<double>
      standard_error;  ///< of the expected value, in the unit of the metric, if it is known
  std::string source;
  std::string misses;  ///< why the simulation is known to miss the figure; empty if it is not
};

/// A study: experiments, and what is expected of them.
struct Study {
  std::string title;
  std::string source;
  std::vector<std::string> notes;
  std::vector<StudyExperiment> experiments;  ///< at least one; their names differ
  std::vector<StudyRow> rows;                ///< their ids differ
};

/// Where a folder has its study.
std::filesystem::path study_file(const std::filesystem::path& folder);

/// Reads `study.json` of a folder (configs/schema/study.schema.json), and the configurations that it names.
/// check_study() looks at what these mean. @throws InputError naming the file and the place in it.
Study load_study(const std::filesystem::path& folder);

}  // namespace equarx::study
