#include "experiments/serve/report.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/machine_parameters.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/serve/metrics.hpp"
#include "experiments/variation/discrepancy.hpp"

namespace equarx::serve {
namespace {

using output::percent_text;
using serving::Distribution;
using serving::State;
using units::bytes_text;
using units::time_text;

constexpr int kDigits = 3;

std::string line(std::string_view title, const std::string& text) {
  return fmt::format("{:<12}{}\n", title, text);
}

std::string machine(const config::PoolConfig& pool) {
  return fmt::format("{} x {}, {}{}", pool.tensor(), pool.machine.chip.name,
                     config::topology_text(pool.machine.topology),
                     pool.replicas() > 1 ? fmt::format(", {} replicas", pool.replicas()) : "");
}

std::string load_text(const ServeResult& result) {
  const serving::Load& load = result.config.load;
  const std::size_t requests = result.outcome.records.size();
  if (load.concurrency)
    return fmt::format("{} requests, {} in flight", requests, *load.concurrency);
  return fmt::format("{} requests, {:.4g}/s{}", requests, result.offered_per_s,
                     result.config.trace.empty() ? "" : fmt::format(" ({})", result.config.trace));
}

std::string latency_table(const serving::Summary& summary) {
  std::vector<output::TableRow> rows = {{"", "mean", "50 %", "90 %", "99 %", "most"}};
  const auto add = [&](const char* title, const Distribution& times) {
    rows.push_back({title, time_text(times.mean), time_text(times.p50), time_text(times.p90),
                    time_text(times.p99), time_text(times.most)});
  };
  add("time to first token (TTFT)", summary.ttft);
  add("time per output token (TPOT)", summary.tpot);
  add("inter-token latency (ITL)", summary.itl);
  add("end-to-end latency", summary.latency);
  return output::aligned_table(rows);
}

std::string range_of(const variation::Interval& interval) {
  return output::range_text(time_text(interval.low), time_text(interval.high));
}

std::string interval_table(const LoadIntervals& intervals) {
  std::vector<output::TableRow> rows = {{"68 % interval", "mean", "50 %", "90 %", "99 %"}};
  const auto add = [&](const char* title, const LatencyIntervals& latency) {
    rows.push_back({title, range_of(latency.mean), range_of(latency.p50), range_of(latency.p90),
                    range_of(latency.p99)});
  };
  add("time to first token", intervals.ttft);
  add("time per output token", intervals.tpot);
  add("inter-token latency", intervals.itl);
  return output::aligned_table(rows) + "\n";
}

/// Rates and cost, and the origin of the intervals.
std::string interval_text(const ServeResult& result) {
  if (!result.intervals) return "none: no parameter of a chip is uncertain";
  const LoadIntervals& all = *result.intervals;
  std::string text = fmt::format("{:.4g} to {:.4g} requests/s, {:.5g} to {:.5g} output tokens/s",
                                 all.requests_per_s.low, all.requests_per_s.high,
                                 all.output_tokens_per_s.low, all.output_tokens_per_s.high);
  if (const auto& cost = all.dollars_per_million)
    text += fmt::format(", ${:.4g} to ${:.4g} per million output tokens", cost->low, cost->high);
  const std::size_t uncertain =
      config::uncertain_parameters(config::parameters_of(result.config.pool.machine)).size();
  return text + fmt::format("\n            Monte Carlo over {} parameters{}, n = {}", uncertain,
                            variation::is_known(accuracy::Question::serving)
                                ? " and the error of prefills and decoding steps"
                                : "",
                            all.samples);
}

/// States by their share of the latency, largest first.
std::string states_text(const serving::Summary& summary) {
  constexpr std::array<std::string_view, serving::kStates> kTexts = {
      "waiting for a step",
      "waiting for a sequence to end",
      "waiting for room in a step",
      "waiting for KV cache",
      "preempted",
      "KV transfers",
      "prefill",
      "decoding"};
  constexpr double kLeast = 5e-4;
  std::vector<std::pair<double, std::string_view>> shares;
  for (std::size_t i = 0; i < serving::kStates; ++i)
    if (summary.spent[i] >= kLeast) shares.emplace_back(summary.spent[i], kTexts[i]);
  std::ranges::stable_sort(shares, std::ranges::greater(),
                           [](const auto& share) { return share.first; });
  std::string text;
  for (const auto& [share, state] : shares)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", state, percent_text(share, kDigits));
  return text;
}

std::string steps_text(const serving::PoolTotals& totals, double utilization) {
  const double busy_s = totals.busy.total_s();
  return fmt::format(
      "{} steps, running {} of the time: compute {}, exposed communication {}, "
      "engine {}",
      totals.steps, percent_text(utilization, kDigits),
      percent_text(totals.busy.compute_s / busy_s, kDigits),
      percent_text(totals.busy.communication_s / busy_s, kDigits),
      percent_text(totals.busy.overhead_s / busy_s, kDigits));
}

bool finds_prefixes(const ServeResult& result) {
  const config::ServingConfig& config = result.config;
  return config.pool.scheduler.limits.keeps_blocks ||
         (config.prefill && config.prefill->pool.scheduler.limits.keeps_blocks);
}

std::string prefixes_text(const ServeResult& result) {
  const serving::Outcome& outcome = result.outcome;
  const std::uint64_t evicted =
      outcome.totals.evicted_blocks +
      (outcome.prefill_totals ? outcome.prefill_totals->evicted_blocks : 0);
  return fmt::format("{} of the tokens of prompts found in the cache, {} blocks evicted",
                     percent_text(result.summary.hit_rate, kDigits), evicted);
}

std::string memory_text(const PoolMemory& memory, const serving::PoolTotals& totals) {
  return fmt::format(
      "per chip: weights {}, KV cache {} ({:.4g} tokens per replica), at most {} used",
      bytes_text(memory.weights), bytes_text(memory.cache), memory.positions,
      percent_text(totals.peak_bytes / memory.cache, kDigits));
}

std::string warning(const ServeResult& result) {
  if (!result.is_overloaded()) return "";
  return line("Overload",
              fmt::format("{:.4g} requests/s arrive, but at most {:.4g}/s can be served: the queue "
                          "grows as long as they arrive",
                          result.offered_per_s, *result.capacity_per_s));
}

}  // namespace

std::string to_table(const ServeResult& result) {
  const config::ServingConfig& config = result.config;
  const serving::Summary& summary = result.summary;
  std::string text =
      fmt::format("{} on {}\n", config.pool.workload.model.name, machine(config.pool));
  if (config.prefill) text += line("Prefill", "on " + machine(config.prefill->pool));
  text += line("Load", load_text(result)) + "\n" + latency_table(summary) + "\n";
  if (result.intervals) text += interval_table(*result.intervals);
  text +=
      line("Throughput",
           fmt::format("{:.4g} requests/s, {:.5g} output tokens/s, {:.4g} per chip, {:.4g} per "
                       "user",
                       summary.requests_per_s, summary.output_tokens_per_s,
                       summary.output_tokens_per_s / result.chips, summary.tokens_per_s_per_user));
  if (const auto dollars = result.dollars_per_million())
    text += line("Cost",
                 fmt::format("${:.4g} per million output tokens, ${:.4g}/h for {} chip{}", *dollars,
                             result.dollars_per_hour, result.chips, result.chips == 1 ? "" : "s"));
  if (config.pool.machine.uncertainty.samples > 0) text += line("Interval", interval_text(result));
  text += line("Measured", variation::discrepancy_text(accuracy::Question::served_load));
  text += line("Latency", states_text(summary));
  text += line("Steps", steps_text(result.outcome.totals, summary.utilization));
  text +=
      line("Batch", fmt::format("{:.4g} tokens decoded per step, {:.4g} preemptions, queue of up "
                                "to {:.4g}",
                                summary.mean_batch, summary.preemptions,
                                result.outcome.totals.longest_queue));
  if (finds_prefixes(result)) text += line("Prefixes", prefixes_text(result));
  text += line("Memory", memory_text(result.memory, result.outcome.totals));
  if (result.simulated_steps > 0)
    text += line("Simulated",
                 fmt::format("{} steps; others are interpolated, within {}", result.simulated_steps,
                             percent_text(result.interpolation_error, 2)));
  return text + warning(result);
}

}  // namespace equarx::serve
