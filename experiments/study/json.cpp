// Reads study.json.
#include "experiments/config/json.hpp"

#include <array>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {
namespace {

constexpr std::array<std::string_view, 3> kRoles = {"calibration", "prediction", "closed form"};
constexpr std::array<std::string_view, 2> kRelations = {"equals", "at most"};

/// Reads the array at `key`, one object after the other.
template <typename Read>
auto read_list(input::ObjectReader& reader, std::string_view key, Read read) {
  std::vector<decltype(read(std::declval<input::ObjectReader>()))> list;
  const input::Json& values = reader.array(key);
  for (std::size_t i = 0; i < values.size(); ++i)
    list.push_back(
        read(input::ObjectReader(values[i], fmt::format("{}/{}", reader.place_of(key), i))));
  return list;
}

double read_number(input::ObjectReader& reader, std::string_view key) {
  const input::Json& value = reader.required(key, "a number");
  if (!value.is_number()) throw input::InputError(reader.place_of(key), "expected a number");
  return value.get<double>();
}

StudyExperiment::Axis read_axis(input::ObjectReader reader) {
  StudyExperiment::Axis axis{.pointer = reader.text("key"), .values = {}};
  for (const input::Json& value : reader.array("values")) axis.values.push_back(value);
  reader.finish();
  return axis;
}

StudyExperiment read_experiment(input::ObjectReader reader, const std::filesystem::path& folder) {
  StudyExperiment experiment;
  experiment.name = reader.text("name");
  const std::string file = (folder / reader.text("config")).string();
  try {
    experiment.config = input::parse_json(input::read_file(file));
  } catch (const input::InputError& error) {
    throw input::InputError(reader.place_of("config"), fmt::format("{}: {}", file, error.what()));
  }
  if (reader.has("vary")) experiment.axes = read_list(reader, "vary", read_axis);
  reader.finish();
  return experiment;
}

StudyRow read_row(input::ObjectReader reader) {
  StudyRow row;
  row.id = reader.text("id");
  row.what = reader.text("what");
  row.experiment = reader.text("experiment");
  if (reader.has("at")) {
    const input::Json& at = reader.required("at", "an object");
    if (!at.is_object()) throw input::InputError(reader.place_of("at"), "expected an object");
    for (const auto& [pointer, value] : at.items()) row.at[pointer] = value;
  }
  row.run = reader.text("run");
  row.metric = reader.text("metric");
  row.relation = reader.choice_or("relation", kRelations, Relation::equals);
  row.expected = read_number(reader, "expected");
  row.role = static_cast<Role>(reader.choice("role", kRoles));
  row.tolerance = read_number(reader, "tolerance");
  row.source = reader.text("source");
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
      throw input::InputError(reader.place_of("notes"), "expected lines of text");
    study.notes.push_back(note.get<std::string>());
  }
  study.experiments = read_list(reader, "experiments", [&](input::ObjectReader experiment) {
    return read_experiment(std::move(experiment), folder);
  });
  study.rows = read_list(reader, "rows", read_row);
  reader.finish();
  return study;
}

}  // namespace

std::string_view name(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

Study load_study(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "study.json";
  try {
    return read_study(input::parse_json(input::read_file(file.string())), folder);
  } catch (const input::InputError& error) {
    throw input::InputError("", fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace equarx::study
