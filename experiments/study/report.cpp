#include "experiments/study/report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "experiments/output/csv.hpp"
#include "experiments/output/files.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/output/table.hpp"
#include "models/units/quantity.hpp"

namespace equarx::study {
namespace {

/// A figure for people, in its unit: only times have one.
std::string figure_text(const StudyRow& row, std::optional<double> value) {
  if (!value) return "-";
  if (row.metric.ends_with("_s")) return units::time_text(*value);
  return fmt::format("{:.4g}", *value);
}

std::string expected_text(const StudyRow& row) {
  return (row.relation == Relation::at_most ? "<= " : "") + figure_text(row, row.expected);
}

std::string ratio_text(const StudyOutcome& outcome) {
  const std::optional<double> ratio = outcome.ratio();
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string tolerance_text(const StudyRow& row) {
  if (row.relation == Relation::at_most) return "limit";
  return fmt::format("{:.3g} %", 100.0 * row.tolerance);
}

/// For programs, with all digits. Empty if there is none.
std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

struct Column {
  std::string_view name;
  std::string (*cell)(const StudyOutcome& outcome);
};

/// Of rows.csv.
constexpr Column kColumns[] = {
    {"id", [](const StudyOutcome& outcome) { return outcome.row.id; }},
    {"what", [](const StudyOutcome& outcome) { return outcome.row.what; }},
    {"metric", [](const StudyOutcome& outcome) { return outcome.row.metric; }},
    {"kind", [](const StudyOutcome& outcome) { return std::string(name(outcome.row.relation)); }},
    {"expected", [](const StudyOutcome& outcome) { return number(outcome.row.expected); }},
    {"simulated", [](const StudyOutcome& outcome) { return number(outcome.simulated); }},
    {"ratio", [](const StudyOutcome& outcome) { return number(outcome.ratio()); }},
    {"role", [](const StudyOutcome& outcome) { return std::string(name(outcome.row.role)); }},
    {"tolerance", [](const StudyOutcome& outcome) { return number(outcome.row.tolerance); }},
    {"within",
     [](const StudyOutcome& outcome) -> std::string {
       return outcome.within_tolerance() ? "yes" : "no";
     }},
    {"source", [](const StudyOutcome& outcome) { return outcome.row.source; }},
};

std::string rows_csv(const std::vector<StudyOutcome>& outcomes) {
  std::vector<output::CsvRow> rows(1);
  for (const Column& column : kColumns) rows.front().emplace_back(column.name);
  for (const StudyOutcome& outcome : outcomes) {
    output::CsvRow& row = rows.emplace_back();
    for (const Column& column : kColumns) row.push_back(column.cell(outcome));
  }
  return output::csv(rows);
}

input::Json study_json(const Study& study, const std::vector<StudyOutcome>& outcomes) {
  input::Json json = {{"program", "equarx-sim"}, {"version", output::version()},
                      {"title", study.title},    {"source", study.source},
                      {"notes", study.notes},    {"rows", input::Json::array()}};
  for (const StudyOutcome& outcome : outcomes)
    json["rows"].push_back({{"id", outcome.row.id},
                            {"what", outcome.row.what},
                            {"metric", outcome.row.metric},
                            {"relation", name(outcome.row.relation)},
                            {"expected", outcome.row.expected},
                            {"simulated", input::or_null(outcome.simulated)},
                            {"ratio", input::or_null(outcome.ratio())},
                            {"role", name(outcome.row.role)},
                            {"tolerance", outcome.row.tolerance},
                            {"within_tolerance", outcome.within_tolerance()},
                            {"source", outcome.row.source}});
  return json;
}

std::string outcomes_table(const std::vector<StudyOutcome>& outcomes) {
  if (outcomes.empty()) return "  no reported figures to compare with\n";
  std::vector<output::TableRow> rows = {
      {"figure", "reported", "simulated", "ratio", "role", "tolerance", "within"}};
  for (const StudyOutcome& outcome : outcomes)
    rows.push_back({outcome.row.what, expected_text(outcome.row),
                    figure_text(outcome.row, outcome.simulated), ratio_text(outcome),
                    std::string(name(outcome.row.role)), tolerance_text(outcome.row),
                    outcome.within_tolerance() ? "yes" : "NO"});
  return output::aligned_table(rows);
}

}  // namespace

std::string to_table(const Study& study, const std::vector<StudyOutcome>& outcomes) {
  std::string text =
      fmt::format("{}\n({})\n\n{}\n", study.title, study.source, outcomes_table(outcomes));
  for (const std::string& note : study.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::vector<std::filesystem::path> write_report(const Study& study,
                                                const std::vector<StudyOutcome>& outcomes,
                                                const std::filesystem::path& folder) {
  output::make_folder(folder);
  return {output::write_file(folder / "rows.csv", rows_csv(outcomes)),
          output::write_file(folder / "study.json", study_json(study, outcomes).dump(2) + "\n")};
}

}  // namespace equarx::study
