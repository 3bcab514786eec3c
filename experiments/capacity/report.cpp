#include "experiments/capacity/report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/capacity/metrics.hpp"
#include "experiments/capacity/rate_interval.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/numerics/errors/perplexity.hpp"

namespace equarx::capacity {
namespace {

using input::Json;
using output::percent_text;
using units::time_text;

constexpr int kDigits = 2;

std::string machine_text(const Machine& machine) {
  return fmt::format("{} x {}", machine.chips, machine.chip);
}

std::string formats_text(const Candidate& one) {
  const std::string sums =
      one.machine.chips > 1 ? fmt::format(", sums {}", one.formats.collective) : "";
  return fmt::format("{}, KV {}{}", one.formats.precision, one.formats.kv, sums);
}

bool by_price(const Plan& plan) {
  return std::ranges::all_of(plan.estimated,
                             [](const Candidate& one) { return one.dollars_per_hour.has_value(); });
}

std::string line(std::string_view title, const std::string& text) {
  return fmt::format("{:<13}{}\n", title, text);
}

std::string table_of(const Plan& plan) {
  const bool has_price = std::ranges::any_of(
      plan.ranked, [](const Candidate& one) { return one.dollars_per_hour.has_value(); });
  std::vector<output::TableRow> rows = {{"replica", "weights", "KV", "sums", "seqs", "tokens",
                                         "req/s", "TTFT", "TPOT", "tok/s/user", "tok/s/chip"}};
  if (has_price) rows.front().push_back("$/Mtok");
  for (const Candidate& one : plan.ranked) {
    const OperatingPoint& point = one.points.back();
    rows.push_back({machine_text(one.machine), one.formats.precision, one.formats.kv,
                    one.machine.chips > 1 ? one.formats.collective : "-",
                    fmt::format("{}", one.estimate.sequences), fmt::format("{}", one.tokens),
                    fmt::format("{:.3g}", point.requests_per_s), time_text(point.ttft_s),
                    time_text(point.tpot_s), fmt::format("{:.3g}", point.tokens_per_s_per_user),
                    fmt::format("{:.4g}", one.output_tokens_per_s_per_chip(plan.request))});
    if (!has_price) continue;
    const auto dollars = one.dollars_per_million(plan.request);
    rows.back().push_back(dollars ? fmt::format("{:.3g}", *dollars) : "-");
  }
  return output::aligned_table(rows);
}

/// A line for each machine, with the precisions of each reason.
std::string obstacles_text(const Plan& plan) {
  using Reasons = std::vector<std::pair<std::string, std::vector<std::string>>>;
  std::vector<std::pair<std::string, Reasons>> machines;
  for (const Obstacle& obstacle : plan.obstacles) {
    const std::string machine = machine_text(obstacle.machine);
    if (machines.empty() || machines.back().first != machine) machines.push_back({machine, {}});
    Reasons& reasons = machines.back().second;
    auto reason = std::ranges::find(reasons, obstacle.reason, &Reasons::value_type::first);
    if (reason == reasons.end())
      reason = reasons.emplace(reason, obstacle.reason, std::vector<std::string>());
    if (std::ranges::find(reason->second, obstacle.formats.precision) == reason->second.end())
      reason->second.push_back(obstacle.formats.precision);
  }
  std::string text;
  for (const auto& [machine, reasons] : machines) {
    std::vector<std::string> parts;
    for (const auto& [reason, precisions] : reasons)
      parts.push_back(fmt::format("{} {}", fmt::join(precisions, ", "), reason));
    text += fmt::format("  {}: {}\n", machine, fmt::join(parts, "; "));
  }
  return text.empty() ? "" : "\nOut\n" + text;
}

std::string quality_text(const Candidate& best) {
  const auto part = [](const char* what, double nmse) {
    return nmse > 0.0 ? fmt::format("{} {:.1f} dB", what, numerics::sqnr_db(nmse)) : std::string();
  };
  std::vector<std::string> parts;
  for (const std::string& text : {part("weights", best.errors.weights_nmse),
                                  part("attention over the KV cache", best.errors.kv_nmse),
                                  part("sums", best.errors.sums_nmse)})
    if (!text.empty()) parts.push_back(text);
  if (parts.empty()) return "all in bf16";
  std::string text = fmt::format("SQNR of drawn values: {}", fmt::join(parts, ", "));
  if (best.errors.sums_nmse > 0.0)
    text += fmt::format("; for the sums, perplexity {}",
                        numerics::perplexity_text(best.errors.sums_nmse));
  return text + "; weights: docs/quality.md";
}

std::string interval_text(const Plan& plan, const Candidate& best) {
  if (!best.interval) return "unknown: no parameter of the chip is uncertain";
  const double tokens = static_cast<double>(plan.request.output) / best.machine.chips;
  return fmt::format(
      "{:.4g} to {:.4g} tok/s/chip (68 %): {} draws of the chip and of the error of decoding steps",
      tokens * best.interval->low, tokens * best.interval->high, kIntervalSamples);
}

std::string sensitivity_text(const Plan& plan) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  for (const Sensitivity& one : plan.sensitivities)
    if (parts.size() < kMost)
      parts.push_back(fmt::format("{} {}{}", one.parameter, one.change > 0.0 ? "+" : "",
                                  percent_text(one.change, kDigits)));
  return parts.empty() ? "none" : fmt::format("rate with 10 % more of: {}", fmt::join(parts, ", "));
}

std::string fleet_text(const Plan& plan, const Candidate& best) {
  const double replicas = std::ceil(*plan.request.requests_per_s / best.requests_per_s());
  std::string text = fmt::format("{:g} replicas, {:g} chips for {:g} requests/s", replicas,
                                 replicas * best.machine.chips, *plan.request.requests_per_s);
  if (best.dollars_per_hour) text += fmt::format(", ${:.2f}/h", replicas * *best.dollars_per_hour);
  return text;
}

template <typename Object>
Json json_of(const result::Metrics<Object>& metrics, const Object& object) {
  Json json = Json::object();
  result::add_metrics(metrics, object, json);
  return json;
}

Json choice_json(const Machine& machine, const Formats& formats) {
  Json json = json_of(choice_metrics(), {machine, formats});
  json["topology"] = *machine.topology;
  return json;
}

Json candidate_json(const Plan& plan, const Candidate& one) {
  Json json = choice_json(one.machine, one.formats);
  const Answer answer{plan.request, one};
  result::add_metrics(candidate_metrics(), answer, json);
  if (one.points.empty()) return json;
  result::add_metrics(ranked_metrics(), answer, json);
  json["points"] = Json::array();
  for (const OperatingPoint& point : one.points)
    json["points"].push_back(json_of(point_metrics(), point));
  json["config"] = *configuration(plan.request, one);
  return json;
}

}  // namespace

std::string to_text(const Plan& plan) {
  const Request& request = plan.request;
  std::string text =
      fmt::format("{}, {} + {} tokens; {:g} % of requests within TTFT {} and TPOT {}\n\n",
                  request.model, request.prompt, request.output, 100.0 * request.percentile,
                  time_text(request.ttft_s), time_text(request.tpot_s));
  if (plan.ranked.empty()) return text + "Nothing meets the limits.\n" + obstacles_text(plan);
  const Candidate& best = plan.ranked.front();
  text += table_of(plan) + "\n";
  text += line("Best", fmt::format("{} ({})", machine_text(best.machine), formats_text(best)));
  text += line("Order", by_price(plan)
                            ? "tokens per $, at the prices of --price or of the hardware files"
                            : "tokens per chip: not all chips have a price");
  text += line("Interval", interval_text(plan, best));
  text += line("Measured", variation::discrepancy_text(accuracy::Question::served_load));
  text += line("Depends on", sensitivity_text(plan));
  text += line("Quality", quality_text(best));
  if (request.requests_per_s) text += line("Fleet", fleet_text(plan, best));
  text += line("Searched",
               fmt::format("{} combinations within the limits, {} out; {} simulated "
                           "under a load",
                           plan.estimated.size(), plan.obstacles.size(), plan.ranked.size()));
  return text + obstacles_text(plan);
}

Json to_json(const Plan& plan) {
  Json json = {{"version", output::version()},
               {"request", json_of(request_metrics(), plan.request)}};
  json["spread"] = plan.spread ? Json(*plan.spread) : Json();
  json["ranked"] = Json::array();
  for (const Candidate& one : plan.ranked) json["ranked"].push_back(candidate_json(plan, one));
  json["estimated"] = Json::array();
  for (const Candidate& one : plan.estimated)
    json["estimated"].push_back(candidate_json(plan, one));
  json["sensitivities"] = Json::array();
  for (const Sensitivity& one : plan.sensitivities)
    json["sensitivities"].push_back(json_of(sensitivity_metrics(), one));
  json["obstacles"] = Json::array();
  for (const Obstacle& one : plan.obstacles) {
    json["obstacles"].push_back(choice_json(one.machine, one.formats));
    json["obstacles"].back()["reason"] = one.reason;
  }
  return json;
}

}  // namespace equarx::capacity
