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

namespace equarx::report {
namespace {

struct KnownColumn {
  std::string_view key;
  std::string_view title;
  ColumnKind kind;
  bool shown;
};

/// In the order of the table. Columns with other keys follow; title and kind are derived from the
/// key.
constexpr std::array kKnownColumns = {
    KnownColumn{"label", "collective", ColumnKind::text, true},
    KnownColumn{"algorithm", "algorithm", ColumnKind::text, true},
    KnownColumn{"format", "format", ColumnKind::text, true},
    KnownColumn{"quantize", "phases quantized", ColumnKind::text, true},
    KnownColumn{"time_s", "time", ColumnKind::time, true},
    KnownColumn{"uncertainty/time_low_s", "time, 68 % low", ColumnKind::time, true},
    KnownColumn{"uncertainty/time_high_s", "time, 68 % high", ColumnKind::time, true},
    KnownColumn{"speedup", "speedup", ColumnKind::ratio, true},
    KnownColumn{"uncertainty/speedup_low", "speedup, 68 % low", ColumnKind::ratio, true},
    KnownColumn{"uncertainty/speedup_high", "speedup, 68 % high", ColumnKind::ratio, true},
    KnownColumn{"compute_s", "compute", ColumnKind::time, true},
    KnownColumn{"exposed_s", "exposed", ColumnKind::time, true},
    KnownColumn{"tokens_per_s_per_chip", "tokens/s/chip", ColumnKind::number, true},
    KnownColumn{"model_flops_utilisation", "MFU", ColumnKind::fraction, true},
    KnownColumn{"hardware_flops_utilisation", "HFU", ColumnKind::fraction, false},
    KnownColumn{"lower_bound_s", "lower bound", ColumnKind::time, true},
    KnownColumn{"wire_bytes_per_link", "bytes per link", ColumnKind::bytes, true},
    KnownColumn{"chips", "chips", ColumnKind::number, true},
    KnownColumn{"numerics/sqnr_db", "SQNR", ColumnKind::decibel, true},
    KnownColumn{"numerics/nmse", "NMSE", ColumnKind::number, true},
    KnownColumn{"numerics/mse", "MSE", ColumnKind::number, false},
    KnownColumn{"core_busy_s", "core busy", ColumnKind::time, false},
    KnownColumn{"core/busy_s", "core busy, mean", ColumnKind::time, false},
    KnownColumn{"core/waits_for_links_s", "core waits for links", ColumnKind::time, false},
    KnownColumn{"core/waits_for_senders_s", "core waits for senders", ColumnKind::time, false},
    KnownColumn{"core/waits_for_queue_s", "core waits for queues", ColumnKind::time, false},
    KnownColumn{"elements_per_scale", "elements per scale", ColumnKind::number, false},
    KnownColumn{"hbm_busy_share", "HBM busy", ColumnKind::fraction, false},
    KnownColumn{"breakdown/payload_s", "payload on the wire", ColumnKind::time, false},
    KnownColumn{"breakdown/scales_s", "scales on the wire", ColumnKind::time, false},
    KnownColumn{"breakdown/sync_s", "per-hop sync", ColumnKind::time, false},
    KnownColumn{"breakdown/startup_s", "startup", ColumnKind::time, false},
    KnownColumn{"breakdown/idle_s", "idle", ColumnKind::time, false},
    KnownColumn{"numerics/max_abs_error", "largest error", ColumnKind::number, false},
    KnownColumn{"numerics/mean_signed_error", "mean error", ColumnKind::number, false},
    KnownColumn{"numerics/cosine_similarity", "cosine similarity", ColumnKind::number, false},
    KnownColumn{"numerics/mse_vs_baseline", "MSE vs baseline", ColumnKind::number, false},
    KnownColumn{"numerics/nmse_vs_baseline", "NMSE vs baseline", ColumnKind::number, false},
    KnownColumn{"numerics/nonfinite_elements", "NaN or Inf", ColumnKind::number, false},
    KnownColumn{"numerics/ranks_identical", "ranks identical", ColumnKind::text, false},
    KnownColumn{"matrix_s", "GEMMs", ColumnKind::time, false},
    KnownColumn{"attention_s", "attention", ColumnKind::time, false},
    KnownColumn{"elementwise_s", "element-wise ops", ColumnKind::time, false},
    KnownColumn{"is_baseline", "baseline", ColumnKind::text, false},
    KnownColumn{"calibrated", "chip calibrated", ColumnKind::text, false},
    KnownColumn{"simulation", "simulation", ColumnKind::text, false},
    KnownColumn{"uncertainty/samples", "Monte Carlo samples", ColumnKind::number, false},
};

ColumnKind kind_by_name(std::string_view key) {
  if (key.ends_with("_s")) return ColumnKind::time;
  if (key.ends_with("_db")) return ColumnKind::decibel;
  if (key.ends_with("bytes")) return ColumnKind::bytes;
  if (key.ends_with("fraction") || key.ends_with("utilisation")) return ColumnKind::fraction;
  if (key.ends_with("speedup")) return ColumnKind::ratio;
  return ColumnKind::number;
}

/// "numerics/clipped_fraction" -> "clipped fraction", "groups/bucket/exposed_s" -> "bucket:
/// exposed"
std::string title_by_name(std::string_view key) {
  constexpr std::string_view kGroups = "groups/";
  if (key.starts_with(kGroups)) {
    const std::string_view group = key.substr(kGroups.size(), key.rfind('/') - kGroups.size());
    return fmt::format("{}: {}", group, title_by_name(key.substr(key.rfind('/') + 1)));
  }
  key.remove_prefix(key.rfind('/') + 1);  // 0 without slash
  for (const std::string_view unit : {"_s", "_db"})
    if (key.ends_with(unit)) key.remove_suffix(unit.size());
  std::string title(key);
  std::ranges::replace(title, '_', ' ');
  return title;
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
  const auto known = std::ranges::find(kKnownColumns, column.key, &KnownColumn::key);
  if (known != kKnownColumns.end()) {
    column.title = known->title;
    column.kind = known->kind;
    column.shown = known->shown;
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

/// Titles the labels "variant" if all runs are of steps, which have no algorithm of their own.
void name_variants(std::vector<ReportColumn>& columns) {
  const auto column = [&](std::string_view key) {
    return std::ranges::find(columns, key, &ReportColumn::key);
  };
  if (column("exposed_s") != columns.end() && column("algorithm") == columns.end() &&
      column("label") != columns.end())
    column("label")->title = "variant";
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
  std::ranges::stable_sort(columns, {}, [](const ReportColumn& column) {
    return std::ranges::find(kKnownColumns, column.key, &KnownColumn::key) - kKnownColumns.begin();
  });
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
