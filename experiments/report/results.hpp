// Reads files of results, of whatever command, as rows for the report page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/input/json_value.hpp"

namespace equarx::report {

/// What made one or more rows: an experiment, or a point of a sweep.
struct ReportSource {
  std::string version = {};  ///< of the program that made it
  std::string key = {};      ///< hash of a result's configuration, or key of a sweep's point
  std::string base = {};     ///< of a sweep's point: names the configuration that the sweep varies
  input::JsonValue config =
      {};  ///< with every default filled in; null if the file does not have it
  /// By name, {"value", "class", "source"} of each parameter of the chip; null if the file does not
  /// have them, as a sweep's. A caller that knows them may fill them in.
  input::JsonValue parameters = {};
  /// Of a workload, a list of what each chip computes, as `run --json` has it; null if the file does not.
  input::JsonValue operations = {};
};

/// One run, or one point that failed.
struct ReportRow {
  std::size_t source = 0;  ///< index into ReportResults::sources
  std::string file = {};
  std::optional<std::uint64_t> point = {};  ///< number within its sweep
  input::JsonValue axes = {};               ///< by JSON pointer into the configuration
  /// An entry of "runs" of a result; null if it failed. Of a step an entry of "variants", whose "groups" are an object.
  input::JsonValue run = {};
  std::string error = {};  ///< why it failed; empty if it did not
};

/// The results of all files that a report is about.
struct ReportResults {
  std::vector<ReportSource> sources;
  std::vector<ReportRow> rows;
  /// What a reader must know about the files, a line each: a cut last line, repeated rows, versions, chips
  /// without calibration.
  std::vector<std::string> notes;
};

/// Reads the output of `run --json`, also of a step, and of `sweep` (JSON Lines), in any mix.
///
/// Of a run that is there twice (same key, version and label) the last is kept; a failed point that
/// a later line computed is left out, and so is what a sweep computed of an earlier state of itself that
/// nothing in the configuration tells, as of earlier contents of a file. A last line that was cut off becomes
/// a note. A JSON pointer that is an axis of any row becomes one of all rows whose configuration has it; so
/// do the pointers in which the configurations of several results without axes differ, and those in which the
/// bases of sweeps differ.
/// @throws InputError that names file and line for anything else than results.
ReportResults read_results(std::span<const std::string> paths);

}  // namespace equarx::report
