// Reads study.json.
#include "base/input/json.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "base/input/renamed_keys.hpp"
#include "base/input/schema.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {
namespace {

constexpr input::EnumNames<Role, 5> kRoles({
    {Role::calibration, "calibration"},
    {Role::implied, "implied"},
    {Role::prediction, "prediction"},
    {Role::closed_form, "closed form"},
    {Role::not_reported, "not reported"},
});
constexpr input::EnumNames<Relation, 2> kRelations({
    {Relation::equals, "equals"},
    {Relation::at_most, "at most"},
});

/// Reads the array at `key` with read(reader, pointer) for each object.
template <typename Read>
auto read_list(input::ObjectReader& reader, std::string_view key, Read read) {
  std::vector<decltype(read(std::declval<input::ObjectReader>(), std::string()))> list;
  const input::Json& values = reader.array(key);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string pointer = reader.pointer_to(key, i);
    list.push_back(read(input::ObjectReader(values[i], pointer), pointer));
  }
  return list;
}

/// Refuses a list in which two parts have the same name.
template <typename Part>
void check_unique(const std::vector<Part>& parts, std::string Part::*name, std::string_view list,
                  std::string_view key) {
  for (auto part = parts.begin(); part != parts.end(); ++part)
    if (std::ranges::find(parts.begin(), part, (*part).*name, name) != part)
      throw input::InputError(
          input::pointer(input::pointer(input::pointer("", list),
                                        static_cast<std::size_t>(part - parts.begin())),
                         key),
          fmt::format("'{}' is not unique; choose another", (*part).*name));
}

/// An experiment is a sweep whose parts have other names.
StudyExperiment read_experiment(input::ObjectReader reader, const std::filesystem::path& folder) {
  const std::string name = reader.text("name");
  if (name.empty())
    throw input::InputError(reader.pointer_to("name"), "is empty; rows name the experiment by it");
  sweep::Sweep sweep = sweep::read_sweep_parts(reader, folder, {.base = "config", .axes = "vary"});
  sweep.name = name;
  reader.finish();
  return {name, sweep::SweepPoints(std::move(sweep))};
}

/// Values of axes, by key.
struct AxisValues {
  using Values = std::map<std::string, input::JsonValue>;

  void read(input::ObjectReader& reader, std::string_view key, Values& values) const {
    const input::Json& at = reader.required(key, "an object");
    if (!at.is_object()) throw input::InputError(reader.pointer_to(key), "expected an object");
    for (const auto& [pointer, value] : at.items()) values[pointer] = value;
  }
  input::Json write(const Values& values) const {
    input::Json json = input::Json::object();
    for (const auto& [pointer, value] : values) json[pointer] = *value;
    return json;
  }
  input::Json schema() const { return {{"type", "object"}}; }
};

/// A relative tolerance.
struct Tolerance : input::Number {
  void read(input::ObjectReader& reader, std::string_view key, double& tolerance) const {
    Number::read(reader, key, tolerance);
    if (tolerance < 0.0)
      throw input::InputError(reader.pointer_to(key),
                              "is below 0; give a share of the expected figure, like 0.05");
  }
  input::Json schema() const { return {{"type", "number"}, {"minimum", 0}}; }
};

/// A standard error, above 0.
struct StandardError : input::Number {
  void read(input::ObjectReader& reader, std::string_view key, double& error) const {
    Number::read(reader, key, error);
    if (error <= 0.0)
      throw input::InputError(reader.pointer_to(key),
                              "is not above 0; leave it out if it is not known");
  }
  input::Json schema() const { return {{"type", "number"}, {"exclusiveMinimum", 0}}; }
};

/// A JSON pointer below the root, for a row of a script.
void check_pointer(const std::string& metric, const std::string& pointer) {
  const auto is_pointer = [&] {
    try {
      return !input::Json::json_pointer(metric).empty();
    } catch (const input::Json::parse_error&) {
      return false;
    }
  };
  if (!is_pointer())
    throw input::InputError(pointer, fmt::format("'{}' is no JSON pointer into the results of the "
                                                 "script; write one like \"/summary/speedup\"",
                                                 metric));
}

const input::Table<StudyRow>& row_table() {
  using input::kRequired, input::Number, input::OneOf, input::Text;
  static const input::Table<StudyRow> table{
      {"id", &StudyRow::id, Text{}, "identifier for programs", kRequired},
      {"what", &StudyRow::what, Text{}, "name for people", kRequired},
      {"experiment", &StudyRow::experiment, Text{}, "name of the experiment",
       input::otherwise("required without `script`")},
      {"at", &StudyRow::at, AxisValues{},
       "a value of each axis of the experiment, as written in the axis",
       input::otherwise("no axes")},
      {"run", &StudyRow::run, Text{}, "label of the collective",
       input::otherwise("required without `script`")},
      {"metric", &StudyRow::written_metric, Text{},
       "path of a number in a run ([results.md](results.md)), like `speedup` or `numerics/mse`; "
       "with `script`, JSON pointer of a number in its results",
       kRequired},
      {"relation", &StudyRow::relation, OneOf{kRelations},
       "or `at most`: an upper limit, widened by the tolerance", input::otherwise("`equals`")},
      {"expected", &StudyRow::expected, Number{}, "in the metric's unit: seconds, bytes, a ratio",
       kRequired},
      {"role", &StudyRow::role, OneOf{kRoles}, "[see below](#roles)", kRequired},
      {"tolerance", &StudyRow::tolerance, Tolerance{},
       "relative: 0.05 is 5 % of the expected value", kRequired},
      {"standard_error", &StudyRow::standard_error, StandardError{},
       "of the expected value, in the metric's unit", input::otherwise("unknown")},
      {"source", &StudyRow::source, Text{}, "source of the value", kRequired},
      {"question", &StudyRow::question, input::Named{accuracy::kQuestions},
       "class of a measured figure in [accuracy.md](accuracy.md)", input::otherwise("none")},
      {"origin", &StudyRow::origin, Text{},
       "origin of the measurement: rows of one origin share systematic errors",
       input::otherwise("the study")},
      {"misses", &StudyRow::misses, Text{},
       "known cause of a miss, printed with the table; with `--strict` an unexpected hit is an "
       "error",
       input::otherwise("no known miss")},
  };
  return table;
}

StudyRow read_row(input::ObjectReader reader, const std::string& pointer, bool has_script) {
  StudyRow row;
  row.pointer = pointer;
  reader.has("at");  // so that errors about missing keys do not suggest it as a misspelling
  for (const char* key : {"experiment", "at", "run"})
    if (has_script) reader.reject(key, "a script has no experiments; remove it");
  if (!has_script)
    for (const char* key : {"experiment", "run"}) reader.required(key, "a string");
  row_table().read(reader, row);
  if (has_script) check_pointer(row.written_metric, input::pointer(pointer, "metric"));
  row.metric = has_script ? row.written_metric : input::current_name(row.written_metric);
  reader.finish();
  return row;
}

/// Describes all keys of an axis by a reference to the page of sweeps.
void refer_to_sweeps(input::Json& schema) {
  if (!schema.is_structured()) return;
  for (input::Json& part : schema) refer_to_sweeps(part);
  if (!schema.is_object() || !schema.contains("properties")) return;
  for (input::Json& key : schema["properties"]) {
    key[std::string(input::kShownAs)] = "*";
    key[std::string(input::kMeaning)] = "[sweeps.md](sweeps.md#the-file)";
    key[std::string(input::kDefaultWords)] = "as in a sweep";
  }
}

input::Json vary_schema() {
  input::Json axis = sweep::axis_schema();
  refer_to_sweeps(axis);
  return {{"type", "array"}, {"items", axis}};
}

input::Json experiments_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"name", Elsewhere{R"({"type": "string", "minLength": 1})"}, "name in rows and pictures",
       input::kRequired},
      {"config", Elsewhere{sweep::base_schema},
       "configuration ([configuration.md](configuration.md)), or its path relative to this file",
       input::kRequired},
      {"vary", Elsewhere{vary_schema}, "axes, as `axes` of a sweep",
       input::otherwise("nothing varies")},
      {"exclude", Elsewhere{sweep::exclude_schema}, "omitted combinations, as in a sweep"},
  };
  return {{"type", "array"}, {"minItems", 1}, {"items", table.schema()}};
}

/// Lines of text.
struct Notes : input::Texts {
  void read(input::ObjectReader& reader, std::string_view key,
            std::vector<std::string>& notes) const {
    for (const input::Json& note : reader.array(key)) {
      if (!note.is_string())
        throw input::InputError(reader.pointer_to(key), "expected lines of text");
      notes.push_back(note.get<std::string>());
    }
  }
};

const input::Table<StudyScript>& script_table() {
  using input::kRequired;
  static const input::Table<StudyScript> table{
      {"command", &StudyScript::command, input::Texts{"a program and its arguments"},
       "program and arguments; in them, `{output}` is the folder for results, `{jobs}` the number "
       "of processes; names that end in `.py` or `.sh` are relative to this file",
       kRequired},
      {"results", &StudyScript::results, input::Text{}, "JSON file that it writes to `{output}`",
       kRequired},
  };
  return table;
}

/// Refuses `{jbos}`, an absent `{output}`, and results elsewhere.
void check_script_keys(const StudyScript& script, const input::ObjectReader& reader) {
  bool has_output = false;
  for (std::size_t i = 0; i < script.command.size(); ++i) {
    const std::string& argument = script.command[i];
    has_output = has_output || argument.find("{output}") != std::string::npos;
    if (argument.starts_with('{') && argument != "{output}" && argument != "{jobs}")
      throw input::InputError(
          reader.pointer_to("command", i),
          fmt::format("'{}' is not known; use {{output}} or {{jobs}}", argument));
  }
  if (!has_output)
    throw input::InputError(reader.pointer_to("command"),
                            "has no {output}; pass the script the folder for its results");
  const std::filesystem::path results = script.results;
  if (results.empty() || results.is_absolute() || *results.begin() == "..")
    throw input::InputError(reader.pointer_to("results"),
                            "is not in {output}; give the name of a file there");
}

StudyScript read_script(input::ObjectReader reader, const std::filesystem::path& folder) {
  StudyScript script;
  script_table().read(reader, script);
  reader.finish();
  check_script_keys(script, reader);
  script.folder = folder;
  return script;
}

const input::Table<Study>& study_table() {
  using input::Elsewhere, input::kRequired, input::Text;
  static const input::Table<Study> table{
      {{"title", &Study::title, Text{}, "title of the comparison", kRequired},
       {"source", &Study::source, Text{}, "source of the expected values", kRequired},
       {"notes", &Study::notes, Notes{}, "lines printed below the table", kRequired},
       {"experiments", Elsewhere{experiments_schema}, "at least one",
        input::otherwise("required without `script`")},
       {"script", Elsewhere{[] { return script_table().schema(); }},
        "[a program](#scripts) that computes the figures, instead of experiments",
        input::otherwise("none")},
       {"rows", Elsewhere{input::Objects{row_table}}, "may be empty", kRequired}},
      {.rules = R"({"oneOf": [{"required": ["experiments"]}, {"required": ["script"]}]})"}};
  return table;
}

Study read_study(const input::Json& json, const std::filesystem::path& folder) {
  input::ObjectReader reader(json, "");
  Study study;
  study_table().read(reader, study);
  const auto read = [&](input::ObjectReader experiment, const std::string&) {
    return read_experiment(std::move(experiment), folder);
  };
  constexpr std::array<std::string_view, 2> kEither = {"experiments", "script"};
  const std::string_view given = input::exactly_one(reader, kEither, "");
  if (given.empty())
    throw input::InputError("", "has neither experiments nor a script; give one of both");
  if (given == "script") {
    study.script = read_script(reader.object("script"), folder);
  } else {
    study.experiments = read_list(reader, "experiments", read);
    if (study.experiments.empty())
      throw input::InputError("/experiments", "is empty; a study has at least one experiment");
  }
  study.rows = read_list(reader, "rows", [&](input::ObjectReader row, const std::string& pointer) {
    return read_row(std::move(row), pointer, study.script.has_value());
  });
  reader.finish();
  check_unique(study.experiments, &StudyExperiment::name, "experiments", "name");
  check_unique(study.rows, &StudyRow::id, "rows", "id");
  input::check_schema(json, "study");
  return study;
}

}  // namespace

std::string_view name(Role role) { return kRoles[role]; }

std::string_view name(Relation relation) { return kRelations[relation]; }

std::filesystem::path study_file(const std::filesystem::path& folder) {
  return folder / "study.json";
}

Study load_study(const std::filesystem::path& folder) {
  const std::string file = study_file(folder).string();
  const std::string text = input::read_file(file);
  return input::within(file, [&] { return read_study(input::parse_json(text), folder); });
}

input::Json study_schema() { return study_table().schema(); }

}  // namespace equarx::study
