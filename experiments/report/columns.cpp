#include "experiments/report/columns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "experiments/report/axes.hpp"
#include "experiments/report/served_loads.hpp"
#include "experiments/result/all_metrics.hpp"

namespace equarx::report {
namespace {

/// A column of a collective's settings, which are no metrics.
struct SettingColumn {
  std::string_view key;
  std::string_view title;
  int place;  ///< as result::MetricInfo::place
};

constexpr std::array kSettings = {
    SettingColumn{"format", "format", 30},
    SettingColumn{"quantize", "phases quantized", 40},
    SettingColumn{"is_baseline", "baseline", 0},
};

ColumnKind kind_of(result::Unit unit) {
  switch (unit) {
    case result::Unit::text:
    case result::Unit::flag:
    case result::Unit::object:
    case result::Unit::list: return ColumnKind::text;
    case result::Unit::time: return ColumnKind::time;
    case result::Unit::bytes: return ColumnKind::bytes;
    case result::Unit::speedup: return ColumnKind::ratio;
    case result::Unit::share: return ColumnKind::fraction;
    case result::Unit::decibel: return ColumnKind::decibel;
    case result::Unit::energy:
    case result::Unit::money:
    case result::Unit::count:
    case result::Unit::number:
    case result::Unit::ratio:
    case result::Unit::squared:
    case result::Unit::tensor: return ColumnKind::number;
  }
  return ColumnKind::number;
}

/// Order of the columns of runs: shown ones by place, other settings, other metrics in the order of
/// their table, columns with other keys.
std::size_t rank_of(const std::string& key) {
  constexpr std::size_t kHidden = 1000;  // above all places
  const auto setting = std::ranges::find(kSettings, key, &SettingColumn::key);
  if (setting != kSettings.end())
    return setting->place > 0 ? static_cast<std::size_t>(setting->place) : kHidden;
  const result::MetricInfo* const known = find_any_metric(key);
  if (known != nullptr && known->place > 0) return static_cast<std::size_t>(known->place);
  const std::vector<result::MetricInfo>& metrics = result::all_metrics();
  const auto metric = std::ranges::find(metrics, key, &result::MetricInfo::key);
  return kHidden + 1 + static_cast<std::size_t>(metric - metrics.begin());
}

ColumnKind kind_by_name(std::string_view key) {
  if (key.ends_with("_s")) return ColumnKind::time;
  if (key.ends_with("_db")) return ColumnKind::decibel;
  if (key.ends_with("bytes")) return ColumnKind::bytes;
  if (key.ends_with("fraction") || key.ends_with("utilisation")) return ColumnKind::fraction;
  if (key.ends_with("speedup")) return ColumnKind::ratio;
  return ColumnKind::number;
}

/// "groups/bucket/exposed_s" -> "bucket: exposed"; otherwise as of metrics
std::string title_by_name(std::string_view key) {
  constexpr std::string_view kGroups = "groups/";
  if (!key.starts_with(kGroups)) return result::title_of_key(key);
  const std::string_view group = key.substr(kGroups.size(), key.rfind('/') - kGroups.size());
  return fmt::format("{}: {}", group, result::title_of_key(key));
}

input::Json cell_of(const input::Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value;
}

/// Collects cells by key; columns are ordered by the first appearance of their key.
class ColumnSet {
 public:
  explicit ColumnSet(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, const std::string& key, const input::Json& value) {
    if (value.is_null() && !index_.contains(key)) return;
    const auto [entry, is_new] = index_.try_emplace(key, columns_.size());
    if (is_new)
      columns_.push_back({.key = key, .title = key, .cells = std::vector<input::JsonValue>(rows_)});
    columns_[entry->second].cells[row] = cell_of(value);
  }

  void set_all(std::size_t row, const std::string& prefix, const input::Json& object) {
    for (const auto& [key, value] : object.items()) {
      if (value.is_object()) {
        set_all(row, prefix + key + "/", value);
      } else if (!value.is_array()) {
        set(row, prefix + key, value);
      }
    }
  }

  std::vector<ReportColumn> take() { return std::move(columns_); }

 private:
  std::size_t rows_;
  std::vector<ReportColumn> columns_;
  std::map<std::string, std::size_t> index_;
};

bool all_cells(const ReportColumn& column, bool (*holds)(const input::Json&)) {
  return std::ranges::all_of(
      column.cells, [&](const input::JsonValue& cell) { return cell->is_null() || holds(*cell); });
}

bool is_number(const input::Json& cell) { return cell.is_number(); }
bool is_text(const input::Json& cell) { return cell.is_string(); }

void make_texts(ReportColumn& column) {
  column.kind = ColumnKind::text;
  for (input::JsonValue& cell : column.cells)
    if (!cell->is_null() && !cell->is_string()) cell = input::Json(cell->dump());
}

/// Parses all texts as quantities of one dimension; std::nullopt if one of them is not.
std::optional<std::vector<input::JsonValue>> parse_all(const std::vector<input::JsonValue>& texts,
                                                       units::Dimension dimension) {
  std::map<std::string, double> known;  // an axis has few values
  std::vector<input::JsonValue> numbers(texts.size());
  try {
    for (std::size_t row = 0; row < texts.size(); ++row) {
      if (texts[row]->is_null()) continue;
      const auto& text = texts[row]->get_ref<const std::string&>();
      auto [value, is_new] = known.try_emplace(text, 0.0);
      if (is_new) value->second = units::parse(text, dimension);
      numbers[row] = input::Json(value->second);
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return numbers;
}

void measure_axis(ReportColumn& column) {
  column.axis = true;
  column.title = column.key.substr(column.key.starts_with('/') ? 1 : 0);
  if (all_cells(column, is_number)) {
    column.kind = ColumnKind::number;
    return;
  }
  if (!all_cells(column, is_text)) return make_texts(column);
  constexpr std::array kDimensions = {
      std::pair{units::Dimension::bytes, ColumnKind::bytes},
      std::pair{units::Dimension::bandwidth, ColumnKind::bandwidth},
      std::pair{units::Dimension::time, ColumnKind::time},
      std::pair{units::Dimension::frequency, ColumnKind::frequency},
      std::pair{units::Dimension::operations, ColumnKind::operations}};
  for (const auto& [dimension, kind] : kDimensions) {
    auto numbers = parse_all(column.cells, dimension);
    if (!numbers) continue;
    for (const input::JsonValue& cell : column.cells)
      column.texts.push_back(cell->is_null() ? "" : cell->get<std::string>());
    column.cells = std::move(*numbers);
    column.kind = kind;
    return;
  }
}

void name_and_measure(ReportColumn& column) {
  const auto setting = std::ranges::find(kSettings, column.key, &SettingColumn::key);
  if (setting != kSettings.end()) {
    column.title = setting->title;
    column.kind = ColumnKind::text;
    column.shown = setting->place > 0;
  } else if (const result::MetricInfo* const metric = find_any_metric(column.key)) {
    column.title = result::title_of(*metric);
    column.kind = kind_of(metric->unit);
    column.shown = metric->place > 0;
  } else {
    column.title = title_by_name(column.key);
    column.kind = kind_by_name(column.key);
    column.shown = false;
  }
  if (column.kind == ColumnKind::text || !all_cells(column, is_number)) make_texts(column);
}

/// True if a column of the runs has the values of an axis: the label, format or phases of a
/// collective.
bool is_run_column(const std::string& pointer) {
  constexpr std::array<std::string_view, 3> kKeys = {"/label", "/format", "/quantize"};
  return pointer.starts_with("/collectives/") &&
         std::ranges::any_of(kKeys, [&](std::string_view key) { return pointer.ends_with(key); });
}

std::vector<ReportColumn> axis_columns(const ReportResults& results) {
  ColumnSet set(results.rows.size());
  for (std::size_t row = 0; row < results.rows.size(); ++row) {
    const input::Json& config = results.sources[results.rows[row].source].config;
    for (const auto& [pointer, value] : results.rows[row].axes->items())
      set.set(row, pointer,
              value.is_structured() ? input::Json(axis_text(pointer, value, config)) : value);
  }
  std::vector<ReportColumn> columns = set.take();
  // Points without runs lack these columns.
  const bool lacks_runs = std::ranges::any_of(results.rows, [](const ReportRow& row) {
    return !row.error.empty() || !row.does_not_fit.empty();
  });
  for (ReportColumn& column : columns) {
    measure_axis(column);
    column.shown = lacks_runs || !is_run_column(column.key);
  }
  return columns;
}

/// Settings of the collective with this label in the configuration, and whether it is the baseline.
input::Json setting_of(const input::Json& config, const std::string& label) {
  input::Json setting = input::Json::object();
  if (!config.is_object()) return setting;
  if (config.contains("baseline")) setting["is_baseline"] = config["baseline"] == label;
  const auto collectives = config.find("collectives");
  if (collectives == config.end() || !collectives->is_array()) return setting;
  for (const input::Json& collective : *collectives) {
    if (!collective.is_object() || collective.value("label", input::Json()) != label) continue;
    for (const char* key : {"format", "quantize"})
      if (collective.contains(key)) setting[key] = collective[key];
  }
  return setting;
}

/// Titles the labels "variant" if all runs are of steps, which have no algorithm of their own, and
/// "replica" if they are of served loads.
void name_variants(std::vector<ReportColumn>& columns) {
  const auto column = [&](std::string_view key) {
    return std::ranges::find(columns, key, &ReportColumn::key);
  };
  const auto has = [&](std::string_view key) { return column(key) != columns.end(); };
  if (has("algorithm") || !has("label")) return;
  if (has("exposed_s")) column("label")->title = "variant";
  if (has("tokens_per_s_per_user")) column("label")->title = "replica";
}

std::vector<ReportColumn> run_columns(const ReportResults& results) {
  ColumnSet set(results.rows.size());
  for (std::size_t row = 0; row < results.rows.size(); ++row) {
    const ReportRow& at = results.rows[row];
    if (!at.run->is_object()) continue;
    set.set_all(row, "", setting_of(results.sources[at.source].config, at.run->value("label", "")));
    set.set_all(row, "", at.run);
  }
  std::vector<ReportColumn> columns = set.take();
  for (ReportColumn& column : columns) name_and_measure(column);
  name_variants(columns);
  std::ranges::stable_sort(columns, {},
                           [](const ReportColumn& column) { return rank_of(column.key); });
  return columns;
}

/// Rows without runs, points, versions and files of the rows; the latter two only if they differ.
std::vector<ReportColumn> origin_columns(const ReportResults& results) {
  ReportColumn error{.key = "error", .title = "failed"};
  ReportColumn does_not_fit{.key = "does_not_fit", .title = "does not fit"};
  ReportColumn needs{.key = "needs_bytes", .title = "needs", .kind = ColumnKind::bytes};
  ReportColumn point{.key = "point", .title = "point", .kind = ColumnKind::number, .shown = false};
  ReportColumn version{.key = "version", .title = "version"};
  ReportColumn file{.key = "file", .title = "file", .shown = false};
  for (const ReportRow& row : results.rows) {
    error.cells.push_back(row.error.empty() ? input::Json(nullptr) : input::Json(row.error));
    does_not_fit.cells.push_back(row.does_not_fit.empty() ? input::Json(nullptr)
                                                          : input::Json(row.does_not_fit));
    needs.cells.push_back(input::or_null(row.needs_bytes));
    point.cells.push_back(input::or_null(row.point));
    version.cells.emplace_back(input::Json(results.sources[row.source].version));
    file.cells.emplace_back(input::Json(row.file));
  }
  std::vector<ReportColumn> columns;
  for (ReportColumn* column : {&error, &does_not_fit, &needs, &point}) {
    if (!std::ranges::all_of(column->cells,
                             [](const input::JsonValue& cell) { return cell->is_null(); }))
      columns.push_back(std::move(*column));
  }
  for (ReportColumn* column : {&version, &file}) {
    if (std::ranges::adjacent_find(column->cells, std::not_equal_to{}) != column->cells.end())
      columns.push_back(std::move(*column));
  }
  return columns;
}

}  // namespace

std::string_view name(ColumnKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {
      "text",      "number",     "time",  "bytes",    "bandwidth",
      "frequency", "operations", "ratio", "fraction", "decibel"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<ReportColumn> make_columns(const ReportResults& results) {
  std::vector<ReportColumn> columns = axis_columns(results);
  std::ranges::move(run_columns(results), std::back_inserter(columns));
  std::ranges::move(origin_columns(results), std::back_inserter(columns));
  return columns;
}

}  // namespace equarx::report
