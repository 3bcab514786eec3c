#include "experiments/sweep/csv.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/csv.hpp"
#include "base/output/files.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/sweep/line_fields.hpp"

namespace equarx::sweep {
namespace {

/// A table whose columns are added on first use.
class Table {
 public:
  explicit Table(const output::CsvRow& columns) {
    for (const std::string& name : columns) column(name);
  }

  void add_row() { rows_.emplace_back(); }
  void set(const std::string& name, std::string text) {
    output::CsvRow& row = rows_.back();
    const std::size_t index = column(name);
    if (row.size() <= index) row.resize(std::max(index + 1, names_.size()));
    row[index] = std::move(text);
  }
  void set(const std::string& name, const input::Json& value) { set(name, field_text(value)); }

  /// Returns the table as CSV, with `last` as the last column.
  std::string text(const std::string& last) {
    column(last);
    for (output::CsvRow& row : rows_) row.resize(names_.size());
    rows_.insert(rows_.begin(), names_);
    const auto index = static_cast<std::ptrdiff_t>(columns_.at(last));
    for (output::CsvRow& row : rows_)
      std::rotate(row.begin() + index, row.begin() + index + 1, row.end());
    return output::csv(rows_);
  }

 private:
  std::size_t column(const std::string& name) {
    const auto [found, is_new] = columns_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  output::CsvRow names_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::vector<output::CsvRow> rows_;
};

void set_fields(Table& table, const std::vector<Field>& fields) {
  for (const Field& field : fields) table.set(field.path, field.text);
}

/// What the table shows of a configuration, independent of the axes; empty for an invalid one.
struct Summary {
  std::vector<Field> machine_and_tensor;  ///< plain texts and numbers
  /// Fields of each compared collective, by label; a step has none.
  std::unordered_map<std::string, std::vector<Field>> of_collective;
};

Summary summary_of(const input::Json& point) {
  Summary summary;
  try {
    const config::AnyConfig config = config::read_any_config(point);
    const input::Json& resolved = config.resolved;
    summary.machine_and_tensor = {
        {"hardware", field_text(config::chip_text(resolved.at("hardware")))},
        {"topology", config.topology}};
    if (config.tensor_bytes)
      summary.machine_and_tensor.push_back(
          {"tensor_bytes", field_text(input::Json(*config.tensor_bytes))});
    if (!resolved.contains("collectives")) return summary;
    for (const input::Json& collective : resolved.at("collectives")) {
      std::vector<Field>& fields = summary.of_collective[field_text(collective.at("label"))];
      for (const char* key : {"format", "quantize"})
        if (collective.contains(key)) fields.push_back({key, field_text(collective[key])});
    }
  } catch (const input::InputError&) {  // reported in the point's error
  }
  return summary;
}

/// Fields of a line of a point, in the order of its keys.
std::vector<Field> fields_of_line(const Summary& summary, const StoredPoint& stored,
                                  std::string_view line) {
  if (stored.failed()) return {member_of_line(line, "error")};
  std::vector<Field> fields;
  if (stored.state == PointState::does_not_fit) {
    for (const char* name : {"status", "needs_bytes", "reason"})
      fields.push_back(member_of_line(line, name));
    return fields;
  }
  fields = run_of_line(line);
  const auto label = std::ranges::find(fields, "label", &Field::path);
  if (label == fields.end()) return fields;
  const auto found = summary.of_collective.find(label->text);
  if (found != summary.of_collective.end())
    fields.insert(fields.begin(), found->second.begin(), found->second.end());
  return fields;
}

}  // namespace

std::string sweep_csv(const PointSet& points, const std::vector<KeyedPoint>& keyed,
                      const SweepStore& store) {
  output::CsvRow columns = {"point", "key"};
  const bool several = points.size() > 0 && !points.experiment(0).empty();
  if (several) columns.push_back("experiment");
  for (const std::string& key : points.axis_keys()) columns.push_back(key);
  columns.insert(columns.end(),
                 {"hardware", "topology", "tensor_bytes", "label", "format", "quantize"});
  Table table(columns);
  for (const KeyedPoint& at : keyed) {
    const StoredPoint* stored = store.find(at.key);
    if (stored == nullptr) continue;
    const input::Json axes = points.axes(at.point);
    const Summary summary = summary_of(points.config(at.point));
    for (const std::string& line : store.current_lines(*stored)) {
      table.add_row();
      table.set("point", std::to_string(at.point));
      table.set("key", at.key);
      if (several) table.set("experiment", points.experiment(at.point));
      for (const auto& [pointer, value] : axes.items()) table.set(pointer, value);
      set_fields(table, summary.machine_and_tensor);
      set_fields(table, fields_of_line(summary, *stored, line));
    }
  }
  return table.text("error");
}

}  // namespace equarx::sweep
