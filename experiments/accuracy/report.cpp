#include "experiments/accuracy/report.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "experiments/accuracy/summary.hpp"

namespace equarx::accuracy {
namespace {

using output::TableRow;

std::string percent(double fraction) { return output::percent_text(fraction, 2); }

/// "60 %", or a dash without rows.
std::string percent_of(double fraction, std::size_t rows) {
  return rows == 0 ? "-" : percent(fraction);
}

std::string share_text(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{} of {}", part, whole);
}

TableRow summary_headings() {
  return {"question", "rows",       "origins", "median error", "90 %",
          "bias",     "null model", "inside",  "spread"};
}

/// Cells of a summary of predicted rows. "spread": drawn by intervals of the class.
TableRow cells_of(const Summary& summary, const std::vector<MeasuredRow>& rows) {
  const std::optional<Discrepancy> known = discrepancy(rows, summary.question);
  return {std::string(description(summary.question)),
          fmt::format("{}", summary.predicted),
          fmt::format("{}", summary.origins),
          percent_of(summary.median_error, summary.predicted),
          percent_of(summary.ninth_decile, summary.predicted),
          summary.predicted == 0 ? "-" : fmt::format("{:+.0f} %", 100.0 * std::expm1(summary.bias)),
          summary.null_median_error > 0.0 ? percent(summary.null_median_error) : "-",
          share_text(summary.covered, summary.coverable),
          known ? percent(std::expm1(known->spread)) : "unknown"};
}

std::vector<TableRow> summary_rows(const std::vector<MeasuredRow>& rows) {
  std::vector<TableRow> table = {summary_headings()};
  for (const Summary& summary : summarize(rows)) table.push_back(cells_of(summary, rows));
  return table;
}

TableRow row_headings() {
  return {"row", "question", "role", "measured", "simulated", "ratio", "origin"};
}

TableRow cells_of(const MeasuredRow& row) {
  return {row.what,
          std::string(name(row.question)),
          std::string(row.role()),
          fmt::format("{:.4g}", row.measured),
          fmt::format("{:.4g}", row.simulated),
          fmt::format("{:.3f}", row.simulated / row.measured),
          row.origin};
}

std::vector<TableRow> all_rows(const std::vector<MeasuredRow>& rows) {
  std::vector<TableRow> table = {row_headings()};
  for (const Question question : kQuestions)
    for (const MeasuredRow& row : rows)
      if (row.question == question) table.push_back(cells_of(row));
  return table;
}

/// Rows inside the spread of other origins, over all classes.
std::string coverage_text(const std::vector<MeasuredRow>& rows) {
  std::size_t covered = 0;
  std::size_t coverable = 0;
  for (const Summary& summary : summarize(rows)) {
    covered += summary.covered;
    coverable += summary.coverable;
  }
  return fmt::format(
      "{} of {} predicted rows ({}) are inside a 68 % interval learnt from the rows "
      "of other origins.",
      covered, coverable,
      percent_of(static_cast<double>(covered) / static_cast<double>(coverable > 0 ? coverable : 1),
                 coverable));
}

std::string markdown(const std::vector<TableRow>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) text += fmt::format("| {} ", cell);
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t column = 0; column < rows[i].size(); ++column)
      text += column == 0 ? "|---" : "|---:";
    text += "|\n";
  }
  return text;
}

constexpr std::string_view kColumns =
    "Errors are |simulated / measured - 1| of predicted rows: their median, and the limit that 90 "
    "% "
    "keep. Null model:\nthe median error of bytes / bandwidth and FLOPs / peak alone. Inside: rows "
    "within the root mean square of the\nlogarithmic errors of other origins. Spread: the root "
    "mean square over all rows, drawn by intervals in addition to\nthe parameters of a chip; "
    "unknown "
    "with fewer than five rows or two origins. Intervals of served loads draw the\nspread of "
    "prefills and decoding steps.\n";

/// Accuracy of other tools, as measured by inference-sim/sim-to-real-accuracy-validation.
constexpr std::string_view kPeers =
    "| tool | runs | end to end | inter-token latency | time to first token |\n"
    "|---|---:|---:|---:|---:|\n"
    "| AIConfigurator 0.9 | 24 | 14.3 % | 21.3 % | 653 % |\n"
    "| LLMServingSim 1.1 | 32 | 18.8 % | 21.8 % | 72.5 % |\n"
    "| llm-optimizer | 30 | 42.5 % | 56.0 % | 618 % |\n"
    "| Vidur | 11 | 2.5 % | 4.0 % | 13.6 % |\n"
    "| BLIS, roofline | 40 | 45.7 % | 50.7 % | 305 % |\n"
    "| BLIS, evolved, on its training set | 40 | 20.2 % | 19.9 % | 18.5 % |\n";

}  // namespace

std::string to_table(const std::vector<MeasuredRow>& rows, bool rows_too) {
  std::string text =
      output::aligned_table(summary_rows(rows)) + "\n  " + coverage_text(rows) + "\n";
  if (rows_too) text += "\n" + output::aligned_table(all_rows(rows));
  return text;
}

input::Json report_json(const std::vector<MeasuredRow>& rows) {
  input::Json json = {{"questions", input::Json::array()}};
  for (const Summary& summary : summarize(rows)) {
    const std::optional<Discrepancy> known = discrepancy(rows, summary.question);
    json["questions"].push_back(
        {{"question", name(summary.question)},
         {"predicted", summary.predicted},
         {"fitted", summary.fitted},
         {"origins", summary.origins},
         {"bias", summary.bias},
         {"spread", summary.spread},
         {"median_error", summary.median_error},
         {"ninth_decile", summary.ninth_decile},
         {"null_median_error", summary.null_median_error},
         {"covered", summary.covered},
         {"coverable", summary.coverable},
         {"discrepancy", known ? input::Json(known->spread) : input::Json()}});
  }
  json.update(to_json(rows));
  return json;
}

std::string to_page(const std::vector<MeasuredRow>& rows) {
  return fmt::format(
      "# Accuracy\n\n"
      "How far simulated figures were from measurements. Written by `tools/accuracy.sh` from the "
      "results of all studies;\n`equarx-sim accuracy` prints it.\n\n"
      "## By question\n\n{}\n{}\n{}\n\n"
      "Other tools, median error of vLLM on H100 as measured by\n"
      "inference-sim/sim-to-real-accuracy-validation:\n\n{}\n"
      "## Rows\n\nTimes in seconds, other figures as in the study.\n\n{}",
      markdown(summary_rows(rows)), kColumns, coverage_text(rows), kPeers,
      markdown(all_rows(rows)));
}

std::string discrepancy_text(const std::vector<MeasuredRow>& rows, Question question) {
  const std::optional<Discrepancy> known = discrepancy(rows, question);
  if (known)
    return fmt::format("{}: {} from {} measured rows of {} origins", description(question),
                       percent(std::expm1(known->spread)), known->rows, known->origins);
  return fmt::format("{}: unknown, too few measured rows", description(question));
}

}  // namespace equarx::accuracy
