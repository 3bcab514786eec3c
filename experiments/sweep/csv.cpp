#include "experiments/sweep/csv.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/input/json.hpp"
#include "base/output/csv.hpp"
#include "base/output/files.hpp"
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

/// Fields of a line of a point, in the order of its keys.
std::vector<Field> fields_of_line(const PointSummary& summary, const StoredPoint& stored,
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
  const auto found = std::ranges::find(summary.collectives, label->text, &CollectiveSummary::label);
  if (found != summary.collectives.end())
    fields.insert(fields.begin(), found->fields.begin(), found->fields.end());
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
    const PointSummary summary = at.summary ? *at.summary : PointSummary{};
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
