// Reads result files of all commands, as rows for the report page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"

namespace equarx::report {

/// Source of one or more rows: an experiment, or a point of a sweep.
struct ReportSource {
  std::string version = {};  ///< of the program that computed it
  std::string key = {};      ///< hash of a result's configuration, or key of a sweep's point
  std::string base = {};     ///< of a sweep's point: identifies the configuration that is varied
  input::JsonValue config = {};  ///< with every default filled in; null if missing in the file
  /// {"value", "class", "source"} of each parameter of the chip, by name; null if missing in the
  /// file, as for sweeps. May be filled in later (fill_in_parameters()).
  input::JsonValue parameters = {};
  /// Operations of each chip in a workload, as in `run --json`; null if missing in the file.
  input::JsonValue operations = {};
};

/// One run, or one point without runs.
struct ReportRow {
  std::size_t source = 0;  ///< index into ReportResults::sources
  std::string file = {};
  std::optional<std::uint64_t> point = {};  ///< number within its sweep
  input::JsonValue axes = {};               ///< by JSON pointer into the configuration
  /// An entry of "runs" of a result, with the "groups" of a step as an object; null
  /// without runs.
  input::JsonValue run = {};
  std::string error = {};                  ///< cause of the failure; empty for a run
  std::string does_not_fit = {};           ///< reason why the point does not fit; empty otherwise
  std::optional<double> needs_bytes = {};  ///< HBM per chip of a point that does not fit
};

/// Results of all files of a report.
struct ReportResults {
  std::vector<ReportSource> sources;
  std::vector<ReportRow> rows;
  /// Notes about the files, one line each: truncated lines, duplicates, versions, uncalibrated
  /// chips.
  std::vector<std::string> notes;
};

/// Reads outputs of `run --json`, also of a step, of `serve --json` and `plan --json`, and of `sweep`
/// (JSON Lines), in any mix.
///
/// Only the last of duplicate runs (same key, version and label) is kept. Left out are failed
/// points that were computed later, and results of an earlier state of a sweep with the same
/// configuration, for example of earlier contents of a file. A truncated last line becomes a note.
/// Axes of any row become axes of all rows whose configuration has them; so do the settings in
/// which the configurations of results without axes, or the bases of sweeps, differ.
/// @throws InputError with file and line for other contents
ReportResults read_results(std::span<const std::string> paths);

/// The same for one result in memory, `name` in messages and rows.
ReportResults read_result(const std::string& name, const input::Json& result);

}  // namespace equarx::report
