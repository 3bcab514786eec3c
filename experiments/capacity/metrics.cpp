#include "experiments/capacity/metrics.hpp"

#include <cstdint>
#include <optional>

#include "experiments/serve/metrics.hpp"

namespace equarx::capacity {
namespace {

using result::Empty;
using result::Metrics;
using result::Unit;

/// An end of the interval of a candidate.
auto end_of(double variation::Interval::*end) {
  return [end](const Answer& one) {
    const auto& interval = one.candidate.interval;
    return interval ? std::optional((*interval).*end) : std::nullopt;
  };
}

}  // namespace

const Metrics<Request>& request_metrics() {
  static const Metrics<Request> metrics = {
      {{.key = "model", .unit = Unit::text, .meaning = "name or file"}, &Request::model},
      {{.key = "isl", .unit = Unit::count, .meaning = "tokens of a prompt"}, &Request::prompt},
      {{.key = "osl", .unit = Unit::count, .meaning = "tokens of an output"}, &Request::output},
      {{.key = "ttft_s", .unit = Unit::time, .meaning = "limit of the time to first token"},
       &Request::ttft_s},
      {{.key = "tpot_s", .unit = Unit::time, .meaning = "limit of the time per output token"},
       &Request::tpot_s},
      {{.key = "percentile", .unit = Unit::share, .meaning = "of requests within both limits"},
       &Request::percentile}};
  return metrics;
}

const Metrics<Choice>& choice_metrics() {
  static const Metrics<Choice> metrics = {
      {{.key = "chip", .unit = Unit::text, .meaning = "name"},
       [](const Choice& one) { return one.machine.chip; }},
      {{.key = "chips", .unit = Unit::count, .meaning = "of a replica"},
       [](const Choice& one) { return one.machine.chips; }},
      {{.key = "calibrated",
        .unit = Unit::flag,
        .meaning = "false: the chip rests on datasheet values and assumptions"},
       [](const Choice& one) { return one.machine.calibrated; }},
      {{.key = "precision", .unit = Unit::text, .meaning = "scheme of the weights"},
       [](const Choice& one) { return one.formats.precision; }},
      {{.key = "kv", .unit = Unit::text, .meaning = "format of the KV cache"},
       [](const Choice& one) { return one.formats.kv; }},
      {{.key = "collective",
        .unit = Unit::text,
        .meaning = "format of the AllReduces; null on one chip",
        .empty = Empty::null},
       [](const Choice& one) {
         return one.machine.chips > 1 ? std::optional(one.formats.collective) : std::nullopt;
       }}};
  return metrics;
}

const Metrics<Answer>& candidate_metrics() {
  static const Metrics<Answer> metrics = {
      {{.key = "tokens", .unit = Unit::count, .meaning = "limit per step"},
       [](const Answer& one) { return one.candidate.tokens; }},
      {{.key = "sequences", .unit = Unit::count, .meaning = "limit of running sequences"},
       [](const Answer& one) { return one.candidate.estimate.sequences; }},
      {{.key = "estimated_requests_per_s", .meaning = "of the steady state"},
       [](const Answer& one) { return one.candidate.estimate.requests_per_s; }},
      {{.key = "estimated_tpot_s", .unit = Unit::time, .meaning = "of the steady state"},
       [](const Answer& one) { return one.candidate.estimate.tpot_s; }},
      {{.key = "output_tokens_per_s_per_chip", .meaning = "simulated if ranked, else estimated"},
       [](const Answer& one) { return one.candidate.output_tokens_per_s_per_chip(one.request); }},
      {{.key = "dollars_per_million_tokens",
        .unit = Unit::money,
        .meaning = "generated; null without a price",
        .empty = Empty::null},
       [](const Answer& one) { return one.candidate.dollars_per_million(one.request); }},
      {{.key = "weights_bytes", .unit = Unit::bytes, .meaning = "per chip"},
       [](const Answer& one) { return serve::whole_bytes(one.candidate.memory.weights); }},
      {{.key = "kv_cache_bytes", .unit = Unit::bytes, .meaning = "per chip, available"},
       [](const Answer& one) { return serve::whole_bytes(one.candidate.memory.cache); }}};
  return metrics;
}

const Metrics<Answer>& ranked_metrics() {
  static const Metrics<Answer> metrics = {
      {{.key = "requests_per_s_low",
        .meaning = "16 % of drawn machines serve less; absent if nothing is uncertain",
        .empty = Empty::absent},
       end_of(&variation::Interval::low)},
      {{.key = "requests_per_s_high",
        .meaning = "84 % of drawn machines serve less",
        .empty = Empty::absent},
       end_of(&variation::Interval::high)},
      {{.key = "weights_nmse", .meaning = "on normal values; 0 for bf16"},
       [](const Answer& one) { return one.candidate.errors.weights_nmse; }},
      {{.key = "kv_nmse", .meaning = "of attention over a drawn KV cache; 0 for bf16"},
       [](const Answer& one) { return one.candidate.errors.kv_nmse; }},
      {{.key = "sums_nmse", .meaning = "of an AllReduce on normal values; 0 on one chip"},
       [](const Answer& one) { return one.candidate.errors.sums_nmse; }}};
  return metrics;
}

const Metrics<OperatingPoint>& point_metrics() {
  static const Metrics<OperatingPoint> metrics = {
      {{.key = "requests_per_s", .meaning = "arrivals"}, &OperatingPoint::requests_per_s},
      {{.key = "ttft_s",
        .unit = Unit::time,
        .meaning = "at the percentile of the request",
        .title = "TTFT",
        .place = 60},
       &OperatingPoint::ttft_s},
      {{.key = "tpot_s", .unit = Unit::time, .meaning = "likewise", .title = "TPOT", .place = 62},
       &OperatingPoint::tpot_s},
      {{.key = "output_tokens_per_s", .meaning = "tokens generated"},
       &OperatingPoint::output_tokens_per_s},
      {{.key = "tokens_per_s_per_user", .meaning = "1 / mean time per token"},
       &OperatingPoint::tokens_per_s_per_user},
      {{.key = "utilization", .unit = Unit::share, .meaning = "share of the time with a step"},
       &OperatingPoint::utilization}};
  return metrics;
}

const Metrics<Sensitivity>& sensitivity_metrics() {
  static const Metrics<Sensitivity> metrics = {
      {{.key = "parameter", .unit = Unit::text, .meaning = "of the chip"}, &Sensitivity::parameter},
      {{.key = "change",
        .unit = Unit::ratio,
        .meaning = "of the rate of the steady state, with 10 % more"},
       &Sensitivity::change}};
  return metrics;
}

}  // namespace equarx::capacity
