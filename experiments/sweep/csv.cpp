#include "experiments/sweep/csv.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/csv.hpp"
#include "base/output/files.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::sweep {
namespace {

/// Returns a text unchanged, any other value as JSON.
std::string field(const input::Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A table whose columns are added on first use.
class Table {
 public:
  explicit Table(const output::CsvRow& columns) {
    for (const std::string& name : columns) column(name);
  }

  void add_row() { rows_.emplace_back(); }
  void set(const std::string& name, const input::Json& value) {
    output::CsvRow& row = rows_.back();
    const std::size_t index = column(name);
    if (row.size() <= index) row.resize(index + 1);
    row[index] = field(value);
  }

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

void set_members(Table& table, const std::string& prefix, const input::Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object())
      set_members(table, prefix + name + '/', value);
    else if (!value.is_array() && !value.is_null())
      table.set(prefix + name, value);
  }
}

/// Machine and tensor as plain texts and numbers, independent of the axes; empty for an invalid
/// configuration.
input::Json machine_and_tensor(const input::Json& point) {
  try {
    const config::AnyConfig config = config::read_any_config(point);
    input::Json json = {{"hardware", config::chip_text(config.resolved->at("hardware"))},
                        {"topology", config.topology}};
    if (config.tensor_bytes) json["tensor_bytes"] = *config.tensor_bytes;
    return json;
  } catch (const input::InputError&) {  // reported in the point's error
    return input::Json::object();
  }
}

/// Copies how the collective of a run is quantized from the configuration, so that readers need no
/// join.
void set_quantization(Table& table, const input::Json& config, const input::Json& label) {
  if (!config.contains("collectives")) return;  // a step has several
  for (const input::Json& collective : config.at("collectives")) {
    if (collective.at("label") != label) continue;
    for (const char* key : {"format", "quantize"})
      if (collective.contains(key)) table.set(key, collective[key]);
  }
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
    const input::Json machine = machine_and_tensor(points.config(at.point));
    for (const input::JsonValue& line : store.results(*stored)) {
      table.add_row();
      table.set("point", at.point);
      table.set("key", at.key);
      if (several) table.set("experiment", points.experiment(at.point));
      for (const auto& [pointer, value] : axes.items()) table.set(pointer, value);
      set_members(table, "", machine);
      if (stored->failed()) {
        table.set("error", line->at("error"));
      } else if (stored->state == PointState::does_not_fit) {
        for (const char* name : {"status", "needs_bytes", "reason"})
          table.set(name, line->at(name));
      } else {
        set_quantization(table, line->at("config"), line->at("run").at("label"));
        set_members(table, "", line->at("run"));
      }
    }
  }
  return table.text("error");
}

}  // namespace equarx::sweep
