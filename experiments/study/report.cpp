#include "experiments/study/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/csv.hpp"
#include "base/output/files.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"

namespace equarx::study {
namespace {

/// Formats a figure; only times have a unit.
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

/// "yes (5 %)", "NO (limit)"
std::string within_text(const StudyOutcome& outcome) {
  const StudyRow& row = outcome.row;
  return fmt::format(
      "{} ({})", outcome.within_tolerance() ? "yes" : "NO",
      row.relation == Relation::at_most ? "limit" : output::percent_text(row.tolerance, 3));
}

/// Formats a number with all digits, for programs. Empty if unset.
std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

/// "671.2 to 677.9 us"; a dash without interval.
std::string interval_text(const StudyOutcome& outcome) {
  const std::optional<FigureInterval>& interval = outcome.figure.interval;
  if (!interval) return "-";
  return output::range_text(figure_text(outcome.row, interval->low),
                            figure_text(outcome.row, interval->high));
}

std::optional<double> low_of(const StudyOutcome& outcome) {
  return outcome.figure.interval ? std::optional(outcome.figure.interval->low) : std::nullopt;
}

std::optional<double> high_of(const StudyOutcome& outcome) {
  return outcome.figure.interval ? std::optional(outcome.figure.interval->high) : std::nullopt;
}

/// Empty if unset.
std::string yes_or_no(std::optional<bool> answer) {
  if (!answer) return "";
  return *answer ? "yes" : "no";
}

struct Column {
  std::string_view name;
  std::string (*cell)(const StudyOutcome& outcome);
};

/// Columns of rows.csv.
constexpr Column kColumns[] = {
    {"id", [](const StudyOutcome& outcome) { return outcome.row.id; }},
    {"what", [](const StudyOutcome& outcome) { return outcome.row.what; }},
    {"metric", [](const StudyOutcome& outcome) { return outcome.row.metric; }},
    {"kind", [](const StudyOutcome& outcome) { return std::string(name(outcome.row.relation)); }},
    {"expected", [](const StudyOutcome& outcome) { return number(outcome.row.expected); }},
    {"simulated", [](const StudyOutcome& outcome) { return number(outcome.figure.simulated); }},
    {"ratio", [](const StudyOutcome& outcome) { return number(outcome.ratio()); }},
    {"role", [](const StudyOutcome& outcome) { return std::string(name(outcome.row.role)); }},
    {"tolerance", [](const StudyOutcome& outcome) { return number(outcome.row.tolerance); }},
    {"within", [](const StudyOutcome& outcome) { return yes_or_no(outcome.within_tolerance()); }},
    {"null_model", [](const StudyOutcome& outcome) { return number(outcome.figure.null_model); }},
    {"null_within",
     [](const StudyOutcome& outcome) { return yes_or_no(outcome.null_within_tolerance()); }},
    {"low", [](const StudyOutcome& outcome) { return number(low_of(outcome)); }},
    {"high", [](const StudyOutcome& outcome) { return number(high_of(outcome)); }},
    {"standard_error",
     [](const StudyOutcome& outcome) { return number(outcome.row.standard_error); }},
    {"within_interval",
     [](const StudyOutcome& outcome) { return yes_or_no(outcome.within_interval()); }},
    {"hardware", [](const StudyOutcome& outcome) { return outcome.figure.hardware; }},
    {"calibrated",
     [](const StudyOutcome& outcome) { return yes_or_no(outcome.figure.calibrated); }},
    {"source", [](const StudyOutcome& outcome) { return outcome.row.source; }},
    {"misses", [](const StudyOutcome& outcome) { return outcome.row.misses; }},
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
  for (const StudyOutcome& outcome : outcomes) {
    json["rows"].push_back({{"id", outcome.row.id},
                            {"what", outcome.row.what},
                            {"metric", outcome.row.metric},
                            {"relation", name(outcome.row.relation)},
                            {"expected", outcome.row.expected},
                            {"simulated", input::or_null(outcome.figure.simulated)},
                            {"ratio", input::or_null(outcome.ratio())},
                            {"role", name(outcome.row.role)},
                            {"tolerance", outcome.row.tolerance},
                            {"within_tolerance", outcome.within_tolerance()},
                            {"null_model", input::or_null(outcome.figure.null_model)},
                            {"low", input::or_null(low_of(outcome))},
                            {"high", input::or_null(high_of(outcome))},
                            {"standard_error", input::or_null(outcome.row.standard_error)},
                            {"source", outcome.row.source},
                            {"misses", outcome.row.misses}});
    if (outcome.row.question) json["rows"].back()["question"] = name(*outcome.row.question);
    if (!outcome.row.origin.empty()) json["rows"].back()["origin"] = outcome.row.origin;
    if (!outcome.figure.chip.empty()) json["rows"].back()["chip"] = outcome.figure.chip;
    if (outcome.figure.chips) json["rows"].back()["chips"] = *outcome.figure.chips;
    if (outcome.figure.bytes) json["rows"].back()["bytes"] = *outcome.figure.bytes;
  }
  return json;
}

bool has_intervals(const std::vector<StudyOutcome>& outcomes) {
  return std::ranges::any_of(
      outcomes, [](const StudyOutcome& outcome) { return outcome.figure.interval.has_value(); });
}

/// Position of the interval in the table, after the simulated figure.
constexpr int kIntervalColumn = 4;

std::string outcomes_table(const std::vector<StudyOutcome>& outcomes) {
  if (outcomes.empty()) return "  no reported figures to compare with\n\n";
  const std::vector<std::string> optional = {"null model", "68 % interval"};
  const bool intervals = has_intervals(outcomes);
  output::TableRow headings = {"figure", "reported", "null model", "simulated",
                               "ratio",  "role",     "within"};
  if (intervals) headings.insert(headings.begin() + kIntervalColumn, optional.back());
  std::vector<output::TableRow> rows = {headings};
  for (const StudyOutcome& outcome : outcomes) {
    output::TableRow& row = rows.emplace_back(
        output::TableRow{outcome.row.what, expected_text(outcome.row),
                         figure_text(outcome.row, outcome.figure.null_model),
                         figure_text(outcome.row, outcome.figure.simulated), ratio_text(outcome),
                         std::string(name(outcome.row.role)), within_text(outcome)});
    if (intervals) row.insert(row.begin() + kIntervalColumn, interval_text(outcome));
  }
  const std::vector<std::string> removed = output::fit_width(rows, optional);
  std::string text = output::aligned_table(rows) + '\n';
  if (!removed.empty()) text += fmt::format("  In rows.csv only: {}.\n", fmt::join(removed, ", "));
  return text;
}

/// Counts the outcomes that meet `criterion`, where it applies: "7 of 9".
std::string count_text(const std::vector<const StudyOutcome*>& outcomes,
                       std::optional<bool> (*criterion)(const StudyOutcome&)) {
  std::size_t applicable = 0;
  std::size_t met = 0;
  for (const StudyOutcome* outcome : outcomes) {
    const std::optional<bool> holds = criterion(*outcome);
    if (!holds) continue;
    ++applicable;
    if (*holds) ++met;
  }
  return fmt::format("{} of {}", met, applicable);
}

/// Summary of the predictions.
std::string summary(const std::vector<StudyOutcome>& outcomes) {
  std::vector<const StudyOutcome*> predictions;
  for (const StudyOutcome& outcome : outcomes)
    if (outcome.row.role == Role::prediction) predictions.push_back(&outcome);
  if (predictions.empty()) return {};
  std::string text = fmt::format(
      "  Predictions within their tolerance: {}; null model (lower bound alone, times and speedups "
      "only): {}.\n",
      count_text(predictions,
                 [](const StudyOutcome& one) { return std::optional(one.within_tolerance()); }),
      count_text(predictions, [](const StudyOutcome& one) { return one.null_within_tolerance(); }));
  if (has_intervals(outcomes))
    text += fmt::format(
        "  Predictions within the combined 68 % interval and measurement error: {}.\n",
        count_text(predictions, [](const StudyOutcome& one) { return one.within_interval(); }));
  return text;
}

}  // namespace

std::string to_table(const Study& study, const std::vector<StudyOutcome>& outcomes) {
  std::string text =
      fmt::format("{}\n({})\n\n{}", study.title, study.source, outcomes_table(outcomes));
  text += summary(outcomes);
  for (const std::string& note : study.notes) text += fmt::format("  {}\n", note);
  for (const StudyOutcome& outcome : outcomes)
    if (!outcome.row.misses.empty())
      text += fmt::format("  Known miss: {}: {}.\n", outcome.row.what, outcome.row.misses);
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
