#include "experiments/serve/metrics.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "experiments/config/serving_json.hpp"

namespace equarx::serve {
namespace {

using input::Json;
using result::Empty;
using result::Metrics;
using result::Unit;
using serving::Distribution;
using serving::PoolTotals;
using serving::State;
using serving::Summary;

constexpr std::array<std::pair<State, std::string_view>, serving::kStates> kStateNames = {
    {{State::waits_for_step, "waits_for_step"},
     {State::waits_for_sequences, "waits_for_sequences"},
     {State::waits_for_tokens, "waits_for_tokens"},
     {State::waits_for_memory, "waits_for_memory"},
     {State::preempted, "preempted"},
     {State::transfers, "transfers"},
     {State::prefills, "prefills"},
     {State::decodes, "decodes"}}};

constexpr std::array<std::string_view, serving::kStates> kStateMeanings = {
    "in the queue, until the running step ended",
    "in the queue, until a sequence ended (`sequences`)",
    "in the queue, until a step had room (`tokens`)",
    "in the queue, until KV cache was free",
    "preempted, until it was scheduled again",
    "KV cache moving from prefill to decoding",
    "prefill",
    "decoding"};

/// Titles of a distribution's columns.
using Titles = std::array<std::string_view, 5>;

constexpr Titles kTtft = {"TTFT, mean", "TTFT, median", "TTFT, 90 %", "TTFT, 99 %", "TTFT, most"};
constexpr Titles kTpot = {"TPOT, mean", "TPOT, median", "TPOT, 90 %", "TPOT, 99 %", "TPOT, most"};
constexpr Titles kItl = {"ITL, mean", "ITL, median", "ITL, 90 %", "ITL, 99 %", "ITL, most"};
constexpr Titles kLatency = {"latency, mean", "latency, median", "latency, 90 %", "latency, 99 %",
                             "latency, most"};

/// `place`: of the median, 0: hidden; the 99 % follow
Metrics<Distribution> distribution_metrics(const Titles& titles, int place) {
  const auto metric = [&](const char* key, std::string_view meaning, std::size_t title, int at,
                          double Distribution::*figure) {
    return result::Metric<Distribution>({.key = key,
                                         .unit = Unit::time,
                                         .meaning = meaning,
                                         .title = titles.at(title),
                                         .place = at},
                                        figure);
  };
  return {metric("mean_s", "mean", 0, 0, &Distribution::mean),
          metric("p50_s", "median", 1, place, &Distribution::p50),
          metric("p90_s", "90 % are below", 2, 0, &Distribution::p90),
          metric("p99_s", "99 % are below", 3, place > 0 ? place + 1 : 0, &Distribution::p99),
          metric("max_s", "largest", 4, 0, &Distribution::most)};
}

Metrics<ServeResult> latency_metrics() {
  const auto member = [](Distribution Summary::*distribution) {
    return [distribution](const ServeResult& result) -> const Distribution* {
      return &(result.summary.*distribution);
    };
  };
  const auto object = [](std::string_view key, std::string_view meaning) {
    return Metrics<ServeResult>{result::Metric<ServeResult>(
        {.key = std::string(key), .unit = Unit::object, .meaning = meaning})};
  };
  return result::joined<ServeResult>(
      {object("ttft", "time to first token"),
       result::within<ServeResult>("ttft", distribution_metrics(kTtft, 60), member(&Summary::ttft)),
       object("tpot", "time per output token after the first, by request"),
       result::within<ServeResult>("tpot", distribution_metrics(kTpot, 62), member(&Summary::tpot)),
       object("itl", "inter-token latency, by token"),
       result::within<ServeResult>("itl", distribution_metrics(kItl, 0), member(&Summary::itl)),
       object("latency", "arrival to last token"),
       result::within<ServeResult>("latency", distribution_metrics(kLatency, 0),
                                   member(&Summary::latency))});
}

bool is_calibrated(const ServeResult& result) {
  const auto& prefill = result.config.prefill;
  return result.config.pool.machine.chip.is_calibrated() &&
         (!prefill || prefill->pool.machine.chip.is_calibrated());
}

Metrics<ServeResult> rate_metrics() {
  return {
      {{.key = "requests", .unit = Unit::count, .meaning = "completed"},
       [](const ServeResult& result) { return result.outcome.records.size(); }},
      {{.key = "time_s", .unit = Unit::time, .meaning = "until the last token"},
       [](const ServeResult& result) { return result.outcome.end_s; }},
      {{.key = "requests_per_s",
        .meaning = "completed, from the first arrival on",
        .title = "requests/s",
        .place = 50},
       [](const ServeResult& result) { return result.summary.requests_per_s; }},
      {{.key = "offered_requests_per_s",
        .meaning = "arrivals; absent with `concurrency`",
        .empty = Empty::absent},
       [](const ServeResult& result) {
         return result.offered_per_s > 0.0 ? std::optional(result.offered_per_s) : std::nullopt;
       }},
      {{.key = "capacity_requests_per_s",
        .meaning = "served if all requests are there from the start; if steps run for more than "
                   "80 % of the time",
        .empty = Empty::absent},
       &ServeResult::capacity_per_s},
      {{.key = "output_tokens_per_s", .meaning = "tokens generated"},
       [](const ServeResult& result) { return result.summary.output_tokens_per_s; }},
      {{.key = "output_tokens_per_s_per_chip",
        .meaning = "of both pools",
        .title = "output tokens/s per chip",
        .place = 54},
       [](const ServeResult& result) { return result.summary.output_tokens_per_s / result.chips; }},
      {{.key = "total_tokens_per_s", .meaning = "with prompts"},
       [](const ServeResult& result) { return result.summary.total_tokens_per_s; }},
      {{.key = "tokens_per_s_per_user",
        .meaning = "1 / mean `tpot`",
        .title = "tokens/s per user",
        .place = 52},
       [](const ServeResult& result) { return result.summary.tokens_per_s_per_user; }},
      {{.key = "cost_per_million_output_tokens_usd",
        .meaning = "price of all chips for the whole time; absent without a price",
        .empty = Empty::absent,
        .title = "$ per million output tokens",
        .place = 56},
       &ServeResult::dollars_per_million},
      {{.key = "chips", .unit = Unit::count, .meaning = "of both pools"}, &ServeResult::chips},
      {{.key = "calibrated",
        .unit = Unit::flag,
        .meaning = "false: a chip rests on datasheet values and assumptions "
                   "([hardware.md](hardware.md))"},
       is_calibrated}};
}

/// Metrics of the steps of a pool.
Metrics<PoolTotals> pool_metrics() {
  return {{{.key = "steps", .unit = Unit::count, .meaning = "of all replicas"}, &PoolTotals::steps},
          {{.key = "compute_s", .unit = Unit::time, .meaning = "of steps"},
           [](const PoolTotals& totals) { return totals.busy.compute_s; }},
          {{.key = "communication_s", .unit = Unit::time, .meaning = "of steps, exposed"},
           [](const PoolTotals& totals) { return totals.busy.communication_s; }},
          {{.key = "overhead_s", .unit = Unit::time, .meaning = "`step_overhead` of all steps"},
           [](const PoolTotals& totals) { return totals.busy.overhead_s; }},
          {{.key = "prompt_tokens", .meaning = "computed, also again after a preemption"},
           &PoolTotals::prompt_tokens},
          {{.key = "decode_tokens", .meaning = "computed"}, &PoolTotals::decode_tokens},
          {{.key = "longest_queue", .meaning = "requests waiting for a replica"},
           &PoolTotals::longest_queue},
          {{.key = "kv_cache_peak_bytes", .unit = Unit::bytes, .meaning = "per chip"},
           [](const PoolTotals& totals) { return whole_bytes(totals.peak_bytes); }},
          {{.key = "evicted_blocks",
            .unit = Unit::count,
            .meaning = "full blocks whose room was needed, with `prefix_cache`"},
           &PoolTotals::evicted_blocks}};
}

Metrics<ServeResult> system_metrics() {
  return {
      {{.key = "utilization",
        .unit = Unit::share,
        .meaning = "share of the time with a running step, of replicas that decode"},
       [](const ServeResult& result) { return result.summary.utilization; }},
      {{.key = "mean_batch", .meaning = "tokens decoded per step"},
       [](const ServeResult& result) { return result.summary.mean_batch; }},
      {{.key = "preemptions", .meaning = "sequences whose KV cache was freed and recomputed"},
       [](const ServeResult& result) { return result.summary.preemptions; }},
      {{.key = "prefix_hit_rate",
        .unit = Unit::share,
        .meaning = "share of the tokens of prompts that were cached, and not computed"},
       [](const ServeResult& result) { return result.summary.hit_rate; }},
      {{.key = "weights_bytes", .unit = Unit::bytes, .meaning = "per chip"},
       [](const ServeResult& result) { return whole_bytes(result.memory.weights); }},
      {{.key = "kv_cache_bytes", .unit = Unit::bytes, .meaning = "per chip, available"},
       [](const ServeResult& result) { return whole_bytes(result.memory.cache); }},
      {{.key = "kv_cache_tokens", .meaning = "that a replica can hold"},
       [](const ServeResult& result) { return result.memory.positions; }},
      {{.key = "simulated_steps",
        .unit = Unit::count,
        .meaning = "with different numbers of tokens; communication in between is interpolated"},
       &ServeResult::simulated_steps},
      {{.key = "interpolation_error",
        .unit = Unit::ratio,
        .meaning = "largest error of an interpolated step time at the steps that test it"},
       &ServeResult::interpolation_error}};
}

Metrics<ServeResult> state_metrics() {
  Metrics<ServeResult> metrics = {
      result::Metric<ServeResult>({.key = "latency_share",
                                   .unit = Unit::object,
                                   .meaning = "shares of the latency of all requests, by state"})};
  for (std::size_t i = 0; i < serving::kStates; ++i)
    metrics.push_back({{.key = fmt::format("latency_share/{}", kStateNames[i].second),
                        .unit = Unit::share,
                        .meaning = kStateMeanings[i]},
                       [i](const ServeResult& result) { return result.summary.spent[i]; }});
  return metrics;
}

Metrics<ServeResult> pools() {
  const auto object = [](std::string_view key, std::string_view meaning, Empty empty) {
    return Metrics<ServeResult>{result::Metric<ServeResult>(
        {.key = std::string(key), .unit = Unit::object, .meaning = meaning, .empty = empty})};
  };
  return result::joined<ServeResult>(
      {object("steps", "replicas that decode", Empty::never),
       result::within<ServeResult>(
           "steps", pool_metrics(),
           [](const ServeResult& result) { return &result.outcome.totals; }),
       object("prefill", "replicas of the prefill pool", Empty::absent),
       result::within<ServeResult>("prefill", pool_metrics(), [](const ServeResult& result) {
         return result.outcome.prefill_totals ? &*result.outcome.prefill_totals : nullptr;
       })});
}

/// Both ends of an interval, as "KEY_low" and "KEY_high" with `suffix`.
template <typename Get>
void add_interval(Metrics<LoadIntervals>& metrics, const std::string& key,
                  const std::string& suffix, Unit unit, const Get& get) {
  metrics.push_back({{.key = key + "_low" + suffix, .unit = unit, .meaning = "16 % are below"},
                     [get](const LoadIntervals& all) { return get(all).low; }});
  metrics.push_back({{.key = key + "_high" + suffix, .unit = unit, .meaning = "84 % are below"},
                     [get](const LoadIntervals& all) { return get(all).high; }});
}

void add_latency(Metrics<LoadIntervals>& metrics, const std::string& name,
                 LatencyIntervals LoadIntervals::*latency) {
  using Figure = std::pair<const char*, variation::Interval LatencyIntervals::*>;
  for (const auto& [key, figure] :
       {Figure{"mean", &LatencyIntervals::mean}, Figure{"p50", &LatencyIntervals::p50},
        Figure{"p90", &LatencyIntervals::p90}, Figure{"p99", &LatencyIntervals::p99}})
    add_interval(
        metrics, name + "_" + key, "_s", Unit::time,
        [latency, member = figure](const LoadIntervals& all) { return all.*latency.*member; });
}

Metrics<LoadIntervals> interval_metrics() {
  Metrics<LoadIntervals> metrics = {
      {{.key = "samples", .unit = Unit::count, .meaning = "Monte Carlo samples"},
       &LoadIntervals::samples}};
  add_latency(metrics, "ttft", &LoadIntervals::ttft);
  add_latency(metrics, "tpot", &LoadIntervals::tpot);
  add_latency(metrics, "itl", &LoadIntervals::itl);
  add_interval(metrics, "requests_per_s", "", Unit::number,
               [](const LoadIntervals& all) { return all.requests_per_s; });
  add_interval(metrics, "output_tokens_per_s", "", Unit::number,
               [](const LoadIntervals& all) { return all.output_tokens_per_s; });
  return metrics;
}

Metrics<LoadIntervals> cost_metrics() {
  const auto end = [](std::string_view key, std::string_view meaning,
                      double variation::Interval::*side) {
    return result::Metric<LoadIntervals>(
        {.key = std::string(key), .meaning = meaning, .empty = Empty::absent},
        [side](const LoadIntervals& all) {
          return all.dollars_per_million ? std::optional((*all.dollars_per_million).*side)
                                         : std::nullopt;
        });
  };
  return {end("cost_per_million_output_tokens_low_usd", "16 % are below; absent without a price",
              &variation::Interval::low),
          end("cost_per_million_output_tokens_high_usd", "84 % are below; absent without a price",
              &variation::Interval::high)};
}

Metrics<ServeResult> uncertainty_metrics() {
  return result::joined<ServeResult>(
      {{result::Metric<ServeResult>(
           {.key = "uncertainty",
            .unit = Unit::object,
            .meaning = "with `uncertainty` configured or `--uncertainty`: 68 % intervals",
            .empty = Empty::absent})},
       result::within<ServeResult>(
           "uncertainty", result::joined<LoadIntervals>({interval_metrics(), cost_metrics()}),
           result::if_present(&ServeResult::intervals))});
}

Json request_json(const serving::Record& record) {
  Json json = {{"arrival_s", record.request.arrival_s},
               {"prompt", record.request.prompt},
               {"output", record.request.output},
               {"prompt_found", record.found},
               {"ttft_s", record.ttft_s()},
               {"tpot_s", record.tpot_s()},
               {"latency_s", record.latency_s()},
               {"replica", record.replica},
               {"preemptions", record.preemptions}};
  for (std::size_t i = 0; i < serving::kStates; ++i)
    json[fmt::format("{}_s", kStateNames[i].second)] = record.spent_s[i];
  return json;
}

}  // namespace

std::uint64_t whole_bytes(double bytes) { return static_cast<std::uint64_t>(std::llround(bytes)); }

const Metrics<ServeResult>& serve_metrics() {
  static const Metrics<ServeResult> metrics =
      result::joined<ServeResult>({rate_metrics(), latency_metrics(), state_metrics(),
                                   system_metrics(), pools(), uncertainty_metrics()});
  return metrics;
}

std::string_view name(State state) { return kStateNames[static_cast<std::size_t>(state)].second; }

Json to_json(const ServeResult& result, bool requests) {
  Json json = {{"version", output::version()}, {"config", config::to_json(result.config)}};
  result::add_metrics(serve_metrics(), result, json);
  if (!requests) return json;
  json["requests_list"] = Json::array();
  for (const serving::Record& record : result.outcome.records)
    json["requests_list"].push_back(request_json(record));
  return json;
}

}  // namespace equarx::serve
