// Reads study.json.
#include "experiments/input/json.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/pointer.hpp"
#include "experiments/input/renamed_keys.hpp"
#include "experiments/input/schema.hpp"
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

StudyRow read_row(input::ObjectReader reader, const std::string& pointer) {
  StudyRow row;
  row.pointer = pointer;
  // Read first, so that errors about missing keys do not suggest it as a misspelling.
  const bool has_at = reader.has("at");
  row.id = reader.text("id");
  row.what = reader.text("what");
  row.experiment = reader.text("experiment");
  if (has_at) {
    const input::Json& at = reader.required("at", "an object");
    if (!at.is_object()) throw input::InputError(reader.pointer_to("at"), "expected an object");
    for (const auto& [pointer, value] : at.items()) row.at[pointer] = value;
  }
  row.run = reader.text("run");
  row.written_metric = reader.text("metric");
  row.metric = input::current_name(row.written_metric);
  row.relation = reader.choice_or("relation", kRelations, Relation::equals);
  row.expected = reader.number("expected");
  row.role = reader.choice("role", kRoles);
  row.tolerance = reader.number("tolerance");
  if (row.tolerance < 0.0)
    throw input::InputError(reader.pointer_to("tolerance"),
                            "is below 0; give a share of the expected figure, like 0.05");
  if (reader.has("standard_error")) {
    row.standard_error = reader.number("standard_error");
    if (*row.standard_error <= 0.0)
      throw input::InputError(reader.pointer_to("standard_error"),
                              "is not above 0; leave it out if it is not known");
  }
  row.source = reader.text("source");
  if (reader.has("misses")) row.misses = reader.text("misses");
  reader.finish();
  return row;
}

Study read_study(const input::Json& json, const std::filesystem::path& folder) {
  input::ObjectReader reader(json, "");
  Study study;
  study.title = reader.text("title");
  study.source = reader.text("source");
  for (const input::Json& note : reader.array("notes")) {
    if (!note.is_string())
      throw input::InputError(reader.pointer_to("notes"), "expected lines of text");
    study.notes.push_back(note.get<std::string>());
  }
  const auto read = [&](input::ObjectReader experiment, const std::string&) {
    return read_experiment(std::move(experiment), folder);
  };
  study.experiments = read_list(reader, "experiments", read);
  if (study.experiments.empty())
    throw input::InputError("/experiments", "is empty; a study has at least one experiment");
  study.rows = read_list(reader, "rows", read_row);
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
  try {
    return read_study(input::parse_json(text), folder);
  } catch (const input::InputError& error) {
    throw input::InputError("", fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace equarx::study
