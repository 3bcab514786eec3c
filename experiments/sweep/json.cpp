// Reads sweep files.
#include "base/input/json.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "base/input/schema.hpp"
#include "base/os/printable.hpp"
#include "experiments/config/json.hpp"
#include "experiments/sweep/range.hpp"
#include "experiments/sweep/sweep.hpp"

namespace equarx::sweep {
namespace {

constexpr std::array<std::string_view, 3> kValueKinds = {"values", "range", "log_range"};

std::string read_name(input::ObjectReader& reader, const std::string& fallback) {
  if (!reader.has("name")) return fallback;
  const std::string name = reader.text("name");
  const bool is_printable = os::printable(name) == name;
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos || !is_printable)
    throw input::InputError(
        "/name", fmt::format("'{}' cannot name a folder; use letters, digits, '-' and '_'", name));
  return name;
}

std::string read_key(input::ObjectReader& reader) {
  const std::string key = reader.text("key", "the JSON pointer of a key, like /tensor/bytes");
  if (!key.starts_with('/') || key.size() == 1)
    throw input::InputError(
        reader.pointer_to("key"),
        fmt::format("'{}' is not the JSON pointer of a key, like /tensor/bytes", key));
  return key;
}

std::vector<input::JsonValue> read_values(input::ObjectReader& reader) {
  const input::Json& values = reader.array("values");
  if (values.empty())
    throw input::InputError(reader.pointer_to("values"), "has no values; give at least one");
  return {values.begin(), values.end()};
}

/// Reads the values of one key; at most `most` are allowed.
std::vector<input::JsonValue> read_steps(input::ObjectReader& reader, const std::string& pointer,
                                         std::uint64_t most) {
  const std::string_view kind = input::exactly_one(reader, kValueKinds, pointer);
  if (kind.empty()) throw input::InputError(pointer, "expected one of values, range, log_range");
  if (kind == "values") return read_values(reader);
  return kind == "range" ? expand_range(reader.object(kind), most)
                         : expand_log_range(reader.object(kind), most);
}

/// Adds a key and its values to an axis. `room`: number of further values allowed in all axes,
/// which limits memory before combinations are counted.
void add_key(SweepAxis& axis, input::ObjectReader reader, const std::string& pointer,
             std::uint64_t& room) {
  const std::string key = read_key(reader);
  std::vector<input::JsonValue> values = read_steps(reader, pointer, room);
  room -= std::min<std::uint64_t>(room, values.size());
  reader.finish();
  if (axis.keys.empty()) axis.steps.resize(values.size());
  if (values.size() != axis.steps.size())
    throw input::InputError(
        pointer, fmt::format("{} has {} values and {} has {}; zipped keys need equally many", key,
                             values.size(), axis.keys.front(), axis.steps.size()));
  axis.keys.push_back(key);
  for (std::size_t step = 0; step < values.size(); ++step)
    axis.steps[step].push_back(std::move(values[step]));
}

/// Refuses duplicate points. Values of one zipped key may repeat if others differ.
void check_distinct(const SweepAxis& axis) {
  std::set<std::string> known;
  for (std::size_t at = 0; at < axis.steps.size(); ++at) {
    std::string values;
    for (const input::JsonValue& value : axis.steps[at])
      values += (values.empty() ? "" : ", ") + input::Json(value).dump();
    if (known.insert(values).second) continue;
    if (axis.keys.size() == 1)
      throw input::InputError(input::pointer(input::pointer(axis.pointer, "values"), at),
                              fmt::format("{} is a duplicate; remove it", values));
    throw input::InputError(input::pointer(axis.pointer, "zip"),
                            fmt::format("{} is a duplicate, at index {}; remove it", values, at));
  }
}

SweepAxis read_axis(const input::Json& json, const std::string& pointer, std::uint64_t& room) {
  SweepAxis axis{.pointer = pointer, .keys = {}, .steps = {}};
  input::ObjectReader reader(json, pointer);
  if (!reader.has("zip")) {
    const bool is_list = reader.has("values");  // ranges have no duplicates
    add_key(axis, std::move(reader), pointer, room);
    if (is_list) check_distinct(axis);
    return axis;
  }
  const input::Json& zipped = reader.array("zip");
  if (zipped.empty())
    throw input::InputError(reader.pointer_to("zip"), "is empty; give at least one key");
  for (std::size_t i = 0; i < zipped.size(); ++i) {
    const std::string part = reader.pointer_to("zip", i);
    add_key(axis, input::ObjectReader(zipped[i], part), part, room);
  }
  reader.finish();
  check_distinct(axis);
  return axis;
}

std::vector<SweepAxis> read_axes(input::ObjectReader& reader, std::string_view name) {
  std::vector<SweepAxis> axes;
  if (!reader.has(name)) return axes;
  const input::Json& json = reader.array(name);
  std::vector<std::string> keys;
  std::uint64_t room = kMostCombinations;
  for (std::size_t i = 0; i < json.size(); ++i) {
    axes.push_back(read_axis(json[i], reader.pointer_to(name, i), room));
    for (const std::string& key : axes.back().keys) {
      if (std::ranges::find(keys, key) != keys.end())
        throw input::InputError(axes.back().pointer,
                                fmt::format("{} is already an axis; remove one of them", key));
      keys.push_back(key);
    }
  }
  return axes;
}

SweepCondition read_condition(const std::vector<SweepAxis>& axes, const std::string& key,
                              const input::Json& value, const std::string& pointer) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto found = std::ranges::find(axes[i].keys, key);
    if (found == axes[i].keys.end()) continue;
    const auto column = static_cast<std::size_t>(found - axes[i].keys.begin());
    SweepCondition condition{.axis = i, .holds = {}};
    for (const std::vector<input::JsonValue>& step : axes[i].steps)
      condition.holds.push_back(*step[column] == value);
    if (std::ranges::find(condition.holds, true) == condition.holds.end())
      throw input::InputError(
          pointer,
          fmt::format("{} never has the value {}; use one of its values, as written in the axis",
                      key, value.dump()));
    return condition;
  }
  throw input::InputError(pointer,
                          fmt::format("{} is not an axis of this sweep; use keys of axes", key));
}

std::vector<SweepExclusion> read_exclusions(input::ObjectReader& reader, std::string_view name,
                                            const std::vector<SweepAxis>& axes) {
  std::vector<SweepExclusion> exclusions;
  if (!reader.has(name)) return exclusions;
  const input::Json& json = reader.array(name);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string pointer = reader.pointer_to(name, i);
    if (!json[i].is_object() || json[i].empty())
      throw input::InputError(
          pointer, "expected an object with keys of axes, like {\"/topology/slice\": \"4x4\"}");
    SweepExclusion& exclusion = exclusions.emplace_back();
    for (const auto& [key, value] : json[i].items())
      exclusion.push_back(read_condition(axes, key, value, pointer));
  }
  return exclusions;
}

}  // namespace

std::string SweepAxis::name() const { return fmt::format("{}", fmt::join(keys, " with ")); }

std::string SweepAxis::step_text(std::size_t step) const {
  if (keys.size() == 1) return steps.at(step).front()->dump();
  input::Json values = input::Json::array();
  for (const input::JsonValue& value : steps.at(step)) values.push_back(*value);
  return values.dump();
}

Sweep read_sweep_parts(input::ObjectReader& reader, const std::filesystem::path& folder,
                       const SweepPartNames& names) {
  Sweep sweep;
  sweep.pointers = {.base = reader.pointer_to(names.base),
                    .axes = reader.pointer_to(names.axes),
                    .exclude = reader.pointer_to(names.exclude)};
  sweep.base = config::read_config_or_path(reader, names.base, folder);
  sweep.axes = read_axes(reader, names.axes);
  sweep.exclusions = read_exclusions(reader, names.exclude, sweep.axes);
  return sweep;
}

Sweep read_sweep(const input::Json& json, const std::filesystem::path& folder,
                 const std::string& default_name) {
  input::ObjectReader reader(json, "");
  const std::string name = read_name(reader, default_name);
  Sweep sweep = read_sweep_parts(reader, folder);
  sweep.name = name;
  if (reader.array("axes").empty())
    throw input::InputError("/axes", "is empty; give at least one axis, or use 'equarx-sim run'");
  reader.finish();
  input::check_schema(json, "sweep");
  return sweep;
}

Sweep load_sweep(const std::filesystem::path& file) {
  const std::string text = input::read_file(file.string());
  return input::within(file.string(), [&] {
    return read_sweep(input::parse_json(text), file.parent_path(), file.stem().string());
  });
}

namespace {

/// A key with its values.
input::Json key_schema() {
  using input::Elsewhere;
  constexpr input::Presence kOneOfThree = input::otherwise("one of the three");
  static const input::Table<input::ReadElsewhere> table{
      {{"key",
        Elsewhere{R"({"type": "string", "pattern": "^/."})"},
        "JSON pointer into the configuration; collectives by index or label",
        {.is_required = true, .words = "required without `zip`"}},
       {"values", Elsewhere{R"({"type": "array", "minItems": 1})"},
        R"(list of any JSON: `[1, 2]`, `["2x2", "4x4"]`, `[{ "torus": "4x4" }, { "ring": 8 }]`)",
        kOneOfThree},
       {"range", Elsewhere{range_schema}, "numbers, or quantities with units", kOneOfThree},
       {"log_range", Elsewhere{log_range_schema}, "the same, with factors", kOneOfThree}},
      {.definition = "key",
       .rules = R"({"oneOf": [{"required": ["values"]}, {"required": ["range"]},
                             {"required": ["log_range"]}]})"}};
  return table.schema();
}

input::Json zip_schema() { return {{"type", "array"}, {"minItems", 1}, {"items", key_schema()}}; }

}  // namespace

input::Json axis_schema() {
  static const input::Table<input::ReadElsewhere> zipped{
      {"zip",
       input::Elsewhere{zip_schema},
       "axes with equally many values that change together",
       {.is_required = true, .words = "instead of `key`"}},
  };
  return input::one_of({key_schema(), zipped.schema()});
}

input::Json base_schema() { return input::schema_of(R"({"type": ["object", "string"]})"); }

input::Json exclude_schema() {
  return input::schema_of(R"({"type": "array", "items": {"type": "object", "minProperties": 1}})");
}

input::Json sweep_schema() {
  using input::Elsewhere, input::kRequired;
  static const input::Table<input::ReadElsewhere> table{
      {"name", Elsewhere{R"({"type": "string", "pattern": "^[^./][^/]*$"})"},
       "names the results folder", input::otherwise("the file name")},
      {"base", Elsewhere{base_schema},
       "configuration ([configuration.md](configuration.md)), or its path relative to this file",
       kRequired},
      {"axes", Elsewhere{[] {
         return input::Json{{"type", "array"}, {"minItems", 1}, {"items", axis_schema()}};
       }},
       "varied keys; every combination is a point, the last axis fastest", kRequired},
      {"exclude", Elsewhere{exclude_schema},
       "points with every value of any of these objects are omitted"},
  };
  return table.schema();
}

}  // namespace equarx::sweep
