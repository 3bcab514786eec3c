#include "experiments/advise/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/input/json.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/output/table.hpp"
#include "models/hardware/chip.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/units/quantity.hpp"

namespace equarx::advise {
namespace {

using tune::TunedCandidate;

std::string speedup_text(double speedup) { return fmt::format("{:.2f}x", speedup); }
std::string sqnr_text(double nmse) { return fmt::format("{:.1f} dB", numerics::sqnr_db(nmse)); }

/// What makes it up, as far as the label does not say.
std::string way_text(const TunedCandidate& candidate) {
  const config::CollectiveConfig& config = candidate.config;
  std::string text = config.label;
  if (config.format.scaled)
    text += config.format.layout != numerics::ScaleLayout::strided
                ? fmt::format(", blocks of {}", config.format.block)
                : fmt::format(", {} per scale", config.elements_per_scale);
  if (candidate.minishards) text += fmt::format(", minishards {}", *candidate.minishards);
  if (config.microshards) text += fmt::format(", microshards {}", *config.microshards);
  return text;
}

std::string line(std::string_view what, const std::string& text) {
  return fmt::format("  {:<12} {}\n", what, text);
}

std::string title(const Advice& advice) {
  const config::ExperimentConfig& config = advice.tuned.config;
  return fmt::format("Advice for {}{} of {} of {} on each of {} x {}, {}\n\n",
                     config.workload ? config.workload->model.name + ", with " : "",
                     collectives::name(config.collective),
                     units::bytes_text(static_cast<double>(config.tensor.bytes())),
                     numerics::name(config.tensor.dtype), advice.tuned.baseline.chips,
                     config.chip.name, config::topology_text(config.topology));
}

std::string limits_text(const Advice& advice) {
  const tune::TuneLimits& limits = advice.tuned.options.limits;
  std::vector<std::string> texts;
  if (limits.max_nmse) texts.push_back("SQNR of at least " + sqnr_text(*limits.max_nmse));
  if (limits.max_time_s) texts.push_back("at most " + units::time_text(*limits.max_time_s));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string quantize_line(const Advice& advice) {
  if (advice.verdict == Verdict::yes)
    return line("Quantize?", "yes: " + way_text(*advice.quantized));
  if (!advice.quantized)
    return line(
        "Quantize?",
        fmt::format("no: nothing quantized is within the limits ({}); the nearest is {}, {}",
                    limits_text(advice), way_text(*advice.nearest),
                    sqnr_text(advice.nearest->nmse)));
  if (advice.verdict == Verdict::unclear)
    return line("Quantize?",
                "unclear, within what is known of the chip: " + way_text(*advice.quantized));
  return line("Quantize?", "no: the fastest within the limits, " + way_text(*advice.quantized) +
                               ", gains nothing");
}

std::string time_line(const Advice& advice) {
  const TunedCandidate& plain = advice.plain;
  const TunedCandidate& quantized = *advice.quantized;
  const double saved_s = plain.time_s - quantized.time_s;
  return line("Time",
              fmt::format("{} instead of {} ({}): {} and {:.1f} % {}, {}",
                          units::time_text(quantized.time_s), units::time_text(plain.time_s),
                          plain.config.label, units::time_text(std::abs(saved_s)),
                          100.0 * std::abs(saved_s) / plain.time_s,
                          saved_s >= 0.0 ? "less" : "more", speedup_text(advice.speedup())));
}

std::string interval_line(const Advice& advice) {
  if (!advice.uncertainty)
    return line("Interval", "none: nothing of the chip has a range or a standard error");
  const run::Interval& speedup = advice.uncertainty->speedup;
  return line("Interval", fmt::format("{} to {}{} on 68 % of {} chips, drawn as uncertain as {} is",
                                      speedup_text(speedup.low), speedup_text(speedup.high),
                                      advice.of_one_allreduce ? " for one AllReduce" : "",
                                      advice.uncertainty->samples, advice.tuned.config.chip.name));
}

std::string error_line(const Advice& advice) {
  const double lost_db =
      numerics::sqnr_db(advice.plain.nmse) - numerics::sqnr_db(advice.quantized->nmse);
  return line("Error",
              fmt::format("SQNR {} instead of {}: {:.1f} dB {}; limits: {}",
                          sqnr_text(advice.quantized->nmse), sqnr_text(advice.plain.nmse),
                          std::abs(lost_db), lost_db >= 0.0 ? "lost" : "won", limits_text(advice)));
}

std::string size_text(const SizeGain& one) {
  return fmt::format("{} ({})", units::bytes_text(static_cast<double>(one.bytes)),
                     speedup_text(one.speedup));
}

std::string sizes_line(const Advice& advice) {
  if (advice.sizes.empty())
    return line("Pays from", "not tried: other sizes take long to simulate");
  const std::optional<SizeGain> from = pays_from(advice.sizes);
  const std::string of = advice.tuned.config.workload ? " of one AllReduce" : "";
  if (!from)
    return line("Pays from", fmt::format("no size{} up to {}", of, size_text(advice.sizes.back())));
  const auto place = std::ranges::find(advice.sizes, from->bytes, &SizeGain::bytes);
  const bool first = place == advice.sizes.begin();
  return line("Pays from",
              fmt::format("{}{}{}", size_text(*from), of,
                          first ? " or less" : "; not at " + size_text(*std::prev(place))));
}

/// To three digits, which is more than is known of a chip.
double rounded(double value) { return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr); }

std::string point_text(const TurningPoint& point) {
  const hardware::ParameterInfo& info = *hardware::find_parameter(point.parameter);
  return fmt::format("{} ({}; turns at {})", point.parameter,
                     hardware::format_value(info, point.value),
                     hardware::format_value(info, rounded(point.turns_at)));
}

std::string hangs_line(const Advice& advice) {
  if (advice.turning_points.empty())
    return line("Hangs on", "no single parameter of the chip, up to 16-fold");
  std::vector<std::string> texts;
  for (const TurningPoint& point : advice.turning_points) texts.push_back(point_text(point));
  return line("Hangs on", fmt::format("{}", fmt::join(texts, ", ")));
}

std::string tried_line(const Advice& advice) {
  const tune::TuneCounts& counts = advice.tuned.counts;
  const std::string tried = fmt::format("{} candidates decided, {} simulated",
                                        counts.candidates - counts.not_tried, counts.simulated);
  if (advice.tuned.untried.empty())
    return line("Not tried", "nothing that might be better; " + tried);
  const tune::UntriedCandidates& first = advice.tuned.untried.front();
  return line(
      "Not tried",
      fmt::format("{} candidates, like {}: {} or more, {}; --budget tries more", counts.not_tried,
                  first.config.label, units::time_text(first.bound_s), first.reason));
}

std::string chip_line(const Advice& advice) {
  if (advice.tuned.baseline.calibrated) return {};
  return line("Chip",
              fmt::format("{} is not calibrated: its times rest on datasheets and assumptions",
                          advice.tuned.config.chip.name));
}

const TunedCandidate& advised(const Advice& advice) {
  return advice.verdict == Verdict::yes ? *advice.quantized : advice.plain;
}

input::Json way_json(const TunedCandidate& candidate, const config::ExperimentConfig& config) {
  input::Json json = {{"label", candidate.config.label},
                      {"time_s", candidate.time_s},
                      {"nmse", candidate.nmse},
                      {"sqnr_db", numerics::sqnr_db(candidate.nmse)},
                      {"collective", config::collective_json(candidate.config, config.collective)}};
  return json;
}

input::Json sizes_json(const std::vector<SizeGain>& sizes) {
  input::Json json = input::Json::array();
  for (const SizeGain& one : sizes)
    json.push_back({{"tensor_bytes", one.bytes}, {"speedup", one.speedup}});
  return json;
}

input::Json points_json(const std::vector<TurningPoint>& points) {
  input::Json json = input::Json::array();
  for (const TurningPoint& point : points)
    json.push_back(
        {{"parameter", point.parameter}, {"value", point.value}, {"turns_at", point.turns_at}});
  return json;
}

output::TableRow row_of(const Site& site) {
  if (!site.advice) return {site.chip, site.topology, "cannot run", "-", "-", "-", "-", "-", "-"};
  const Advice& advice = *site.advice;
  const bool has = advice.quantized.has_value();
  const std::optional<SizeGain> from = pays_from(advice.sizes);
  return {site.chip,
          site.topology,
          std::string(name(advice.verdict)),
          has ? way_text(*advice.quantized) : "-",
          has ? units::time_text(advice.quantized->time_s) : "-",
          units::time_text(advice.plain.time_s),
          has ? speedup_text(advice.speedup()) : "-",
          has ? sqnr_text(advice.quantized->nmse) : "-",
          from ? units::bytes_text(static_cast<double>(from->bytes)) : "-"};
}

}  // namespace

std::string to_text(const Advice& advice) {
  std::string text = title(advice) + quantize_line(advice);
  if (advice.quantized)
    text += time_line(advice) + interval_line(advice) + error_line(advice) + sizes_line(advice) +
            hangs_line(advice);
  else
    text += line("Time", fmt::format("{}: {}", advice.plain.config.label,
                                     units::time_text(advice.plain.time_s)));
  return text + tried_line(advice) + chip_line(advice) +
         line("To run it",
              config::collective_json(advised(advice).config, advice.tuned.config.collective)
                  .dump());
}

std::string to_table(const std::vector<Site>& sites) {
  std::vector<output::TableRow> rows = {{"chip", "topology", "quantize", "fastest quantized way",
                                         "time", "plain", "speedup", "SQNR", "pays from"}};
  for (const Site& site : sites) rows.push_back(row_of(site));
  std::string text = output::aligned_table(rows);
  for (const Site& site : sites)
    if (!site.advice) text += fmt::format("  {}, {}: {}\n", site.chip, site.topology, site.why_not);
  return text;
}

input::Json to_json(const Advice& advice) {
  const config::ExperimentConfig& config = advice.tuned.config;
  const input::Json resolved = to_json(config);
  const std::optional<SizeGain> from = pays_from(advice.sizes);
  input::Json json = {
      {"program", "equarx-sim"},
      {"version", output::version()},
      {"config_hash", output::config_hash(resolved)},
      {"config", resolved},
      {"chips", advice.tuned.baseline.chips},
      {"calibrated", advice.tuned.baseline.calibrated},
      {"limits",
       {{"max_nmse", input::or_null(advice.tuned.options.limits.max_nmse)},
        {"max_time_s", input::or_null(advice.tuned.options.limits.max_time_s)}}},
      {"quantize", name(advice.verdict)},
      {"plain", way_json(advice.plain, config)},
      {"quantized", advice.quantized ? way_json(*advice.quantized, config) : input::Json(nullptr)},
      {"nearest", advice.nearest ? way_json(*advice.nearest, config) : input::Json(nullptr)},
      {"speedup", advice.quantized ? input::Json(advice.speedup()) : input::Json(nullptr)},
      {"of_one_allreduce", advice.of_one_allreduce},
      {"hangs_on", points_json(advice.turning_points)},
      {"sizes", sizes_json(advice.sizes)},
      {"pays_from_bytes", from ? input::Json(from->bytes) : input::Json(nullptr)},
      {"candidates", advice.tuned.counts.candidates},
      {"not_tried", advice.tuned.counts.not_tried}};
  json["uncertainty"] = advice.uncertainty
                            ? input::Json({{"samples", advice.uncertainty->samples},
                                           {"speedup_low", advice.uncertainty->speedup.low},
                                           {"speedup_high", advice.uncertainty->speedup.high}})
                            : input::Json(nullptr);
  return json;
}

input::Json to_json(const std::vector<Site>& sites) {
  input::Json list = input::Json::array();
  for (const Site& site : sites)
    list.push_back({{"chip", site.chip},
                    {"topology", site.topology},
                    {"advice", site.advice ? to_json(*site.advice) : input::Json(nullptr)},
                    {"why_not", site.advice ? input::Json(nullptr) : input::Json(site.why_not)}});
  return {{"program", "equarx-sim"}, {"version", output::version()}, {"sites", std::move(list)}};
}

}  // namespace equarx::advise
