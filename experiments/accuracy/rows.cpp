#include "experiments/accuracy/rows.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"

namespace equarx::accuracy {
namespace {

constexpr std::uint64_t kMostChips = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 53;

const input::Table<MeasuredRow>& row_table() {
  using input::Flag, input::Integer, input::kRequired, input::Named, input::Positive, input::Text;
  static const input::Table<MeasuredRow> table{
      {"study", &MeasuredRow::study, Text{}, "name of the study", kRequired},
      {"id", &MeasuredRow::id, Text{}, "identifier within the study", kRequired},
      {"what", &MeasuredRow::what, Text{}, "name for people", kRequired},
      {"origin", &MeasuredRow::origin, Text{}, "origin of the measurement", kRequired},
      {"question", &MeasuredRow::question, Named{kQuestions}, "class of the question", kRequired},
      {"predicted", &MeasuredRow::predicted, Flag{}, "nothing was fitted to it", kRequired},
      {"measured", &MeasuredRow::measured, Positive{}, "in the unit of the figure", kRequired},
      {"simulated", &MeasuredRow::simulated, Positive{}, "likewise", kRequired},
      {"chip", &MeasuredRow::chip, Text{}, "name of the built-in chip"},
      {"chips", &MeasuredRow::chips, Integer{1, kMostChips}, ""},
      {"bytes", &MeasuredRow::bytes, Integer{1, kMostBytes}, "tensor of a collective"},
      {"null_model", &MeasuredRow::null_model, Positive{}, "likewise"},
  };
  return table;
}

/// A number above 0 under `key`; std::nullopt otherwise.
std::optional<double> positive(const input::Json& row, const char* key) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_number() || found->get<double>() <= 0.0) return std::nullopt;
  return found->get<double>();
}

/// A whole number above 0 under `key`; std::nullopt otherwise.
template <typename Integer>
std::optional<Integer> whole(const input::Json& row, const char* key) {
  const std::optional<double> number = positive(row, key);
  if (!number) return std::nullopt;
  return static_cast<Integer>(*number);
}

std::string text(const input::Json& row, const char* key, const std::string& otherwise) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::optional<Question> question_of(const input::Json& row, const std::string& pointer) {
  if (!row.contains("question")) return std::nullopt;
  input::ObjectReader reader(row, pointer);
  Question question{};
  input::Named{kQuestions}.read(reader, "question", question);
  return question;
}

}  // namespace

double MeasuredRow::error() const { return std::log(simulated / measured); }

std::string_view MeasuredRow::role() const { return predicted ? "predicted" : "fitted"; }

std::vector<MeasuredRow> read_rows(const input::Json& json) {
  input::ObjectReader reader(json, "");
  std::vector<MeasuredRow> rows;
  input::Objects{row_table}.read(reader, "rows", rows);
  reader.finish();
  return rows;
}

input::Json to_json(const std::vector<MeasuredRow>& rows) {
  return {{"rows", input::Objects{row_table}.write(rows)}};
}

const std::vector<MeasuredRow>& built_in_rows() {
  static const std::vector<MeasuredRow> rows =
      read_rows(input::parse_json(std::string(input::embedded_accuracy().front().text)));
  return rows;
}

std::vector<MeasuredRow> rows_of_study(const input::Json& json, const std::string& study) {
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array())
    throw input::InputError("",
                            "has no rows; name the results of a study, such as results/training");
  std::vector<MeasuredRow> rows;
  for (std::size_t i = 0; i < json["rows"].size(); ++i) {
    const input::Json& row = json["rows"][i];
    if (!row.is_object()) continue;
    const auto question = question_of(row, input::pointer("/rows", i));
    const auto measured = positive(row, "expected");
    const auto simulated = positive(row, "simulated");
    if (!question || !measured || !simulated) continue;
    rows.push_back({.study = study,
                    .id = text(row, "id", fmt::format("{}", i)),
                    .what = text(row, "what", ""),
                    .origin = text(row, "origin", study),
                    .question = *question,
                    .predicted = text(row, "role", "") == "prediction",
                    .measured = *measured,
                    .simulated = *simulated,
                    .null_model = positive(row, "null_model"),
                    .chip = text(row, "chip", ""),
                    .chips = whole<std::uint32_t>(row, "chips"),
                    .bytes = whole<std::uint64_t>(row, "bytes")});
  }
  return rows;
}

}  // namespace equarx::accuracy
