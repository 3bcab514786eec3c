#include "experiments/accuracy/summary.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace equarx::accuracy {
namespace {

using Rows = std::vector<const MeasuredRow*>;

Rows predictions(const std::vector<MeasuredRow>& rows, Question question) {
  Rows found;
  for (const MeasuredRow& row : rows)
    if (row.question == question && row.predicted) found.push_back(&row);
  return found;
}

std::size_t origins_of(const Rows& rows) {
  std::set<std::string> origins;
  for (const MeasuredRow* row : rows) origins.insert(row->origin);
  return origins.size();
}

double spread_of(const Rows& rows) {
  double sum = 0.0;
  for (const MeasuredRow* row : rows) sum += row->error() * row->error();
  return rows.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(rows.size()));
}

/// Quantile of values in any order; 0 of nothing.
double quantile_or_0(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  return quantile(values, share);
}

void add_coverage(const Rows& rows, Summary& summary) {
  for (const MeasuredRow* row : rows) {
    Rows others;
    std::ranges::copy_if(rows, std::back_inserter(others),
                         [&](const MeasuredRow* one) { return one->origin != row->origin; });
    if (others.empty()) continue;
    ++summary.coverable;
    if (std::abs(row->error()) <= spread_of(others)) ++summary.covered;
  }
}

Summary summary_of(const std::vector<MeasuredRow>& all, Question question) {
  const Rows rows = predictions(all, question);
  Summary summary{.question = question};
  summary.predicted = rows.size();
  for (const MeasuredRow& row : all)
    if (row.question == question && !row.predicted) ++summary.fitted;
  summary.origins = origins_of(rows);
  summary.spread = spread_of(rows);
  std::vector<double> errors;
  std::vector<double> null_errors;
  for (const MeasuredRow* row : rows) {
    summary.bias += row->error() / static_cast<double>(rows.size());
    errors.push_back(std::abs(row->simulated / row->measured - 1.0));
    if (row->null_model) null_errors.push_back(std::abs(*row->null_model / row->measured - 1.0));
  }
  constexpr double kMedian = 0.5;
  constexpr double kNinthDecile = 0.9;
  summary.median_error = quantile_or_0(errors, kMedian);
  summary.ninth_decile = quantile_or_0(errors, kNinthDecile);
  summary.null_median_error = quantile_or_0(null_errors, kMedian);
  add_coverage(rows, summary);
  return summary;
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

std::vector<Summary> summarize(const std::vector<MeasuredRow>& rows) {
  std::vector<Summary> summaries;
  for (const Question question : kQuestions) {
    const Summary summary = summary_of(rows, question);
    if (summary.predicted + summary.fitted > 0) summaries.push_back(summary);
  }
  return summaries;
}

std::optional<Discrepancy> discrepancy(const std::vector<MeasuredRow>& rows, Question question) {
  const Rows found = predictions(rows, question);
  const Discrepancy learnt{spread_of(found), found.size(), origins_of(found)};
  if (learnt.rows < kFewestRows || learnt.origins < kFewestOrigins) return std::nullopt;
  return learnt;
}

}  // namespace equarx::accuracy
