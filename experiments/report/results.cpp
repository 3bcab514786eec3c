#include "experiments/report/results.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "base/input/renamed_keys.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/report/axes.hpp"
#include "experiments/report/bases.hpp"
#include "experiments/report/served_loads.hpp"

namespace equarx::report {
namespace {

constexpr std::string_view kAskForResults =
    "is this a file from 'equarx-sim run --json' or 'equarx-sim sweep'?";

const input::Json& member(const input::Json& object, const std::string& key,
                          input::Json::value_t type, std::string_view expected) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type)
    throw input::InputError("/" + key, fmt::format("expected {}; {}", expected, kAskForResults));
  return *found;
}

std::string text_of(const input::Json& object, const std::string& key) {
  return member(object, key, input::Json::value_t::string, "a text").get<std::string>();
}

/// Returns an object, or null if absent.
input::Json object_of(const input::Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : input::Json(nullptr);
}

void check_run(const input::Json& run, const std::string& pointer) {
  if (!run.is_object() || !run.contains("label") || !run["label"].is_string())
    throw input::InputError(pointer,
                            fmt::format("expected a run, with its label; {}", kAskForResults));
}

/// Converts the groups of tasks, which the run of a step has, to members by name.
input::Json with_groups_by_name(const input::Json& variant, const std::string& pointer) {
  const bool has_tasks = variant.contains("groups") || variant.contains("critical_path");
  if (!has_tasks) return variant;
  if (!variant.contains("groups") || !variant["groups"].is_array())
    throw input::InputError(pointer, fmt::format("has no groups of tasks; {}", kAskForResults));
  input::Json run = variant;
  run["groups"] = input::Json::object();
  for (const input::Json& group : variant["groups"]) {
    if (!group.is_object() || !group.contains("group") || !group["group"].is_string())
      throw input::InputError(input::pointer(pointer, "groups"),
                              fmt::format("expected a group, with its name; {}", kAskForResults));
    input::Json numbers = group;
    numbers.erase("group");
    run["groups"][group["group"].get<std::string>()] = std::move(numbers);
  }
  return run;
}

class Reader {
 public:
  void read(const std::string& path) {
    const std::string text = input::read_file(path);
    file_ = path;
    has_old_keys_ = input::has_renamed_keys(text) && !is_served(text);
    if (has_old_keys_) note(input::renamed_note(path));
    const std::size_t before = results_.rows.size();
    if (is_lines(text))
      read_lines(text);
    else
      input::within(file_, [&] { read_any(input::parse_json(text)); });
    if (results_.rows.size() == before && repeated_ == 0)
      throw input::InputError("", fmt::format("{}: no results in it; {}", path, kAskForResults));
  }

  void read(const std::string& name, const input::Json& result) {
    file_ = name;
    input::within(file_, [&] { read_result(result); });
  }

  ReportResults finish() {
    drop_recomputed_failures();
    if (repeated_ > 0)
      note(fmt::format("{} {} duplicated; only the last of each is shown", repeated_,
                       repeated_ == 1 ? "run is" : "runs are"));
    std::set<std::string> versions;
    for (const ReportSource& source : results_.sources) versions.insert(source.version);
    if (versions.size() > 1)
      note(fmt::format("results of several versions of equarx-sim, which may not be comparable: {}",
                       fmt::join(versions, ", ")));
    note_uncalibrated();
    add_axes_of_bases(results_);
    drop_of_older_states();  // before further axes are added
    complete_axes(results_);
    return std::move(results_);
  }

 private:
  using Identity = std::pair<std::size_t, std::optional<std::string>>;  // source, label

  void note(std::string text) { results_.notes.push_back(std::move(text)); }

  /// True for outputs of `serve` and `plan`, whose keys were never renamed.
  static bool is_served(const std::string& text) {
    const input::Json json = input::Json::parse(text, nullptr, false);
    return is_load(json) || is_plan(json);
  }

  /// True if the first line is a JSON object, but not a complete result.
  static bool is_lines(const std::string& text) {
    const std::string first = text.substr(0, text.find('\n'));
    const input::Json value = input::Json::parse(first, nullptr, false);
    return value.is_object() && !value.contains("program");
  }

  void read_lines(const std::string& text) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      ++number;
      begin = end + 1;
      const bool is_last = text.find_first_not_of(" \r\n", begin) == std::string::npos;
      if (line.find_first_not_of(" \r") == std::string::npos) continue;
      if (is_last && !input::Json::accept(line)) {
        note(fmt::format("{}: its last line, {}, was cut off and is left out", file_, number));
        break;
      }
      input::within(fmt::format("{}: line {}", file_, number),
                    [&] { read_point(input::parse_json(line)); });
    }
  }

  /// An output of `run`, `serve` or `plan`.
  void read_any(const input::Json& json) {
    if (is_plan(json)) {
      input::check_schema(json, "plan");
      for (const input::Json& point : points_of_plan(json)) read_point(point);
    } else if (is_load(json)) {
      input::check_schema(json, "served");
      read_result(result_of_load(json));
    } else {
      read_result(json);
    }
  }

  void read_result(const input::Json& result) {
    if (!result.is_object() || !result.contains("program") || result["program"] != "equarx-sim")
      throw input::InputError("", fmt::format("not a result; {}", kAskForResults));
    const std::string list = result.contains("variants") ? "variants" : "runs";  // version 0.2
    const input::Json& runs = member(result, list, input::Json::value_t::array, "a list of runs");
    const std::size_t source = find_source(result, text_of(result, "config_hash"));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string pointer = input::pointer(input::pointer("", list), i);
      check_run(runs[i], pointer);
      add({.source = source, .file = file_, .run = with_groups_by_name(current(runs[i]), pointer)});
    }
  }

  void read_point(const input::Json& point) {
    if (!point.is_object())
      throw input::InputError("", fmt::format("not a point of a sweep; {}", kAskForResults));
    ReportRow row{.source = find_source(point, text_of(point, "key")), .file = file_};
    row.axes = member(point, "axes", input::Json::value_t::object, "the axes of a sweep's point");
    if (point.contains("point") && point["point"].is_number_unsigned())
      row.point = point["point"].get<std::uint64_t>();
    if (point.contains("error")) {
      row.error = text_of(point, "error");
      // An empty error would mark a row without run as successful.
      if (row.error.empty())
        throw input::InputError("/error", fmt::format("is empty; {}", kAskForResults));
    } else if (point.contains("status")) {
      row.does_not_fit = text_of(point, "reason");
      if (row.does_not_fit.empty())
        throw input::InputError("/reason", fmt::format("is empty; {}", kAskForResults));
      if (point.contains("needs_bytes") && point["needs_bytes"].is_number())
        row.needs_bytes = point["needs_bytes"].get<double>();
    } else {
      row.run = current(member(point, "run", input::Json::value_t::object, "a run, or an error"));
      check_run(row.run, "/run");
    }
    add(std::move(row));
  }

  /// The run under the current names of its keys.
  input::Json current(input::Json run) const {
    if (has_old_keys_) input::rename_keys(run);
    return run;
  }

  std::size_t find_source(const input::Json& json, std::string key) {
    std::string version = text_of(json, "version");
    const auto [known, is_new] = source_of_.try_emplace({key, version}, results_.sources.size());
    if (is_new) results_.sources.push_back({.version = std::move(version), .key = std::move(key)});
    ReportSource& source = results_.sources[known->second];
    if (const input::Json base = json.value("base", input::Json()); base.is_string())
      source.base = base.get<std::string>();
    // Optional in the further lines of a point.
    if (source.config->is_null()) source.config = object_of(json, "config");
    if (source.parameters->is_null()) source.parameters = object_of(json, "parameters");
    if (source.operations->is_null() && json.contains("operations"))
      source.operations = json["operations"];
    return known->second;
  }

  void add(ReportRow row) {
    std::optional<std::string> label;  // unset for a point without runs, which has a single row
    if (row.run->is_object()) label = (*row.run)["label"].get<std::string>();
    const auto [known, is_new] =
        row_of_.try_emplace({row.source, std::move(label)}, results_.rows.size());
    if (is_new) {
      results_.rows.push_back(std::move(row));
    } else {
      // A point that fails again in a retry is not worth a note.
      if (row.run->is_object()) ++repeated_;
      results_.rows[known->second] = std::move(row);
    }
  }

  /// Results of older versions lack the flag, and get no note.
  void note_uncalibrated() {
    std::set<std::string> chips;
    for (const ReportRow& row : results_.rows) {
      if (!row.run->is_object() || row.run->value("calibrated", input::Json(true)) != false)
        continue;
      const input::Json& config = results_.sources[row.source].config;
      chips.insert(config.contains("hardware") ? config::chip_text(config["hardware"]) : "a chip");
    }
    if (!chips.empty())
      note(fmt::format("{}: not calibrated; times rest on datasheet values and assumptions",
                       fmt::join(chips, ", ")));
  }

  void drop_recomputed_failures() {
    std::vector<bool> computed(results_.sources.size());
    for (const ReportRow& row : results_.rows)
      if (row.error.empty()) computed[row.source] = true;
    std::erase_if(results_.rows,
                  [&](const ReportRow& row) { return !row.error.empty() && computed[row.source]; });
  }

  /// Drops rows of a sweep that differ from later ones only in their keys, because a file that the
  /// configuration names has changed.
  void drop_of_older_states() {
    using Identifier = std::vector<std::string>;
    std::set<Identifier> seen;
    const std::size_t before = results_.rows.size();
    std::ranges::reverse(results_.rows);
    std::erase_if(results_.rows, [&](const ReportRow& row) {
      const ReportSource& source = results_.sources[row.source];
      if (source.base.empty()) return false;
      const Identifier point = {row.file, source.version, row.axes->dump()};
      Identifier run = point;  // a point without runs has no label
      if (row.run->is_object()) run.push_back((*row.run)["label"].get<std::string>());
      const bool is_last = seen.insert(std::move(run)).second;
      seen.insert(point);
      return !is_last;
    });
    std::ranges::reverse(results_.rows);
    const std::size_t dropped = before - results_.rows.size();
    if (dropped > 0)
      note(
          fmt::format("{} {} from an earlier state of the sweep with the same configuration; only "
                      "later ones are shown",
                      dropped, dropped == 1 ? "row is" : "rows are"));
  }

  ReportResults results_;
  std::string file_;
  bool has_old_keys_ = false;  // of the file that is being read
  std::map<std::pair<std::string, std::string>, std::size_t> source_of_;  // by key and version
  std::map<Identity, std::size_t> row_of_;
  std::size_t repeated_ = 0;
};

}  // namespace

ReportResults read_result(const std::string& name, const input::Json& result) {
  Reader reader;
  reader.read(name, result);
  return reader.finish();
}

ReportResults read_results(std::span<const std::string> paths) {
  Reader reader;
  for (const std::string& path : paths) reader.read(path);
  return reader.finish();
}

}  // namespace equarx::report
