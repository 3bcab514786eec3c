#include "models/serving/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace equarx::serving {
namespace {

/// Value at a share of the way through sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

Distribution distribution(std::vector<double> values) {
  if (values.empty()) return {};
  constexpr double kHalf = 0.5;
  constexpr double kMost = 0.9;
  constexpr double kNearlyAll = 0.99;
  std::ranges::sort(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = quantile(values, kHalf),
          .p90 = quantile(values, kMost),
          .p99 = quantile(values, kNearlyAll),
          .most = values.back()};
}

Summary summarize(const Outcome& outcome, const System& system) {
  Summary summary;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> latency;
  double prompts = 0.0;
  double outputs = 0.0;
  double found = 0.0;
  double first_s = outcome.end_s;
  for (const Record& record : outcome.records) {
    ttft.push_back(record.ttft_s());
    latency.push_back(record.latency_s());
    if (record.request.output > 1) tpot.push_back(record.tpot_s());
    prompts += static_cast<double>(record.request.prompt);
    outputs += static_cast<double>(record.request.output);
    found += static_cast<double>(record.found);
    first_s = std::min(first_s, record.request.arrival_s);
    summary.preemptions += record.preemptions;
    for (std::size_t i = 0; i < kStates; ++i) summary.spent[i] += record.spent_s[i];
  }
  const double all_s = std::accumulate(latency.begin(), latency.end(), 0.0);
  for (double& share : summary.spent) share /= all_s;
  const double span_s = outcome.end_s - first_s;
  summary.ttft = distribution(std::move(ttft));
  summary.tpot = distribution(std::move(tpot));
  summary.itl = distribution(outcome.gaps_s);
  summary.latency = distribution(std::move(latency));
  summary.requests_per_s = static_cast<double>(outcome.records.size()) / span_s;
  summary.output_tokens_per_s = outputs / span_s;
  summary.hit_rate = found / prompts;
  summary.total_tokens_per_s = (prompts + outputs) / span_s;
  if (summary.tpot.mean > 0.0) summary.tokens_per_s_per_user = 1.0 / summary.tpot.mean;
  summary.utilization = outcome.totals.busy.total_s() / (span_s * system.pool.replicas);
  summary.mean_batch =
      outcome.totals.decode_tokens / std::max(1.0, static_cast<double>(outcome.totals.steps));
  return summary;
}

}  // namespace equarx::serving
