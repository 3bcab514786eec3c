#include "experiments/advise/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/advise/text.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/tune/report.hpp"
#include "experiments/variation/report.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::advise {
namespace {

using tune::TunedCandidate;

/// Label, scale granularity and tiling.
std::string candidate_text(const TunedCandidate& candidate) {
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

std::string title(const Advice& advice) {
  const config::ExperimentConfig& config = advice.tuned.config;
  return fmt::format("Advice for {} of {} of {} on each of {} x {}, {}\n\n",
                     collectives::name(config.collective),
                     units::bytes_text(static_cast<double>(config.tensor.bytes())),
                     numerics::name(config.tensor.dtype), advice.tuned.baseline.chips,
                     config.chip.name, config::topology_text(config.topology));
}

std::string quantize_line(const Advice& advice) {
  if (advice.verdict == variation::Verdict::yes)
    return line("Quantize?", "yes: " + candidate_text(*advice.quantized));
  if (!advice.quantized && !advice.nearest)
    return line("Quantize?",
                advice.broken
                    ? fmt::format("no: every quantized candidate breaks the contract, most "
                                  "of them {} ({}: {})",
                                  contract::name(advice.broken->promise), advice.broken->example,
                                  advice.broken->reason)
                    : "no: no quantized candidate can run");
  if (!advice.quantized)
    return line(
        "Quantize?",
        fmt::format("no: no quantized candidate is within the limits ({}); the nearest is {}, {}",
                    limits_text(advice.tuned.options.limits), candidate_text(*advice.nearest),
                    sqnr_text(advice.nearest->nmse)));
  if (advice.verdict == variation::Verdict::unclear)
    return line("Quantize?", "unclear: the speedup interval includes 1.00x: " +
                                 candidate_text(*advice.quantized));
  return line("Quantize?",
              fmt::format("no: the fastest candidate within the limits, {}, is {} {} ({})",
                          candidate_text(*advice.quantized),
                          advice.speedup() < 1.0 ? "slower than" : "as fast as",
                          advice.plain.config.label, speedup_text(advice.speedup())));
}

std::string time_line(const Advice& advice) {
  return line("Time:",
              time_text(advice.quantized->time_s, advice.plain.time_s, advice.plain.config.label));
}

std::string error_line(const Advice& advice) {
  const double lost_db =
      numerics::sqnr_db(advice.plain.nmse) - numerics::sqnr_db(advice.quantized->nmse);
  const std::string difference =
      std::isfinite(lost_db)
          ? fmt::format(": {:.1f} dB {}", std::abs(lost_db), lost_db >= 0.0 ? "lost" : "gained")
          : "";
  return line("Error:", fmt::format("SQNR {} instead of {}{}; limits: {}",
                                    sqnr_text(advice.quantized->nmse), sqnr_text(advice.plain.nmse),
                                    difference, limits_text(advice.tuned.options.limits)));
}

std::string contract_line(const Advice& advice) {
  const std::vector<contract::Promise>& promises = advice.tuned.options.promises;
  return promises.empty() ? "" : line("Contract:", contract::names_text(promises) + ": kept");
}

/// FP32 is rarely the type that a model communicates in, but often that of its saved arrays.
std::string compared_line(const Advice& advice) {
  const config::NamedBlockFormat& plain = advice.plain.config.format;
  if (plain.scaled || plain.element != numerics::ElementFormat::fp32) return {};
  return line("Compared with:",
              "fp32, 4 bytes per element; for a model in bf16 set \"dtype\": \"bf16\" in "
              "\"tensor\"");
}

std::string inputs_lines(const Advice& advice) {
  std::string lines;
  for (const std::string& input : values::texts_of(advice.tuned.nonfinite_inputs))
    lines += line("Warning:", input + "; errors leave such elements out");
  return lines;
}

std::string size_text(const SizeGain& one) {
  return fmt::format("{} ({})", units::bytes_text(static_cast<double>(one.bytes)),
                     speedup_text(one.speedup));
}

std::string sizes_line(const Advice& advice) {
  if (advice.sizes.empty())
    return line("Break-even size:", "not computed: other sizes take long to simulate");
  const std::optional<SizeGain> from = break_even_size(advice.sizes);
  if (!from)
    return line("Break-even size:", fmt::format("none up to {}", size_text(advice.sizes.back())));
  const auto smallest = std::ranges::find(advice.sizes, from->bytes, &SizeGain::bytes);
  const bool first = smallest == advice.sizes.begin();
  return line("Break-even size:",
              fmt::format("{}{}", size_text(*from),
                          first ? " or below" : "; not at " + size_text(*std::prev(smallest))));
}

std::string search_line(const Advice& advice) {
  const tune::TuneCounts& counts = advice.tuned.counts;
  const std::string searched = fmt::format("{} candidates decided, {} simulated",
                                           counts.candidates - counts.not_tried, counts.simulated);
  if (advice.tuned.skipped.empty())
    return line("Skipped:", "none that might be better; " + searched);
  const tune::SkippedCandidates& first = advice.tuned.skipped.front();
  return line("Skipped:",
              fmt::format("{} candidates, like {}: at least {}, {}; see --budget", counts.not_tried,
                          first.config.label, units::time_text(first.bound_s), first.reason));
}

const TunedCandidate& advised(const Advice& advice) {
  return advice.verdict == variation::Verdict::yes ? *advice.quantized : advice.plain;
}

input::Json candidate_json(const TunedCandidate& candidate,
                           const config::ExperimentConfig& config) {
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

output::TableRow row_of(const MachineAdvice& machine) {
  if (!machine.advice)
    return {machine.chip, machine.topology, "infeasible", "-", "-", "-", "-", "-", "-"};
  const Advice& advice = *machine.advice;
  const bool has = advice.quantized.has_value();
  const std::optional<SizeGain> from = break_even_size(advice.sizes);
  return {machine.chip,
          machine.topology,
          std::string(variation::name(advice.verdict)),
          has ? advice.quantized->config.label : "-",
          has ? units::time_text(advice.quantized->time_s) : "-",
          units::time_text(advice.plain.time_s),
          has ? speedup_text(advice.speedup()) : "-",
          has ? sqnr_text(advice.quantized->nmse) : "-",
          from ? units::bytes_text(static_cast<double>(from->bytes)) : "-"};
}

}  // namespace

std::string to_text(const Advice& advice) {
  std::string text =
      title(advice) + quantize_line(advice) + contract_line(advice) + compared_line(advice);
  if (advice.quantized)
    text +=
        time_line(advice) +
        line("68 % interval:", interval_text(advice.confidence, advice.tuned.config.chip.name)) +
        error_line(advice) + sizes_line(advice) +
        line("Most sensitive to:", sensitivity_text(advice.confidence)) +
        settling_line(advice.verdict, advice.confidence);
  else
    text += line("Time:", fmt::format("{}: {}", advice.plain.config.label,
                                      units::time_text(advice.plain.time_s)));
  return text + inputs_lines(advice) + search_line(advice) + trust_lines(advice.tuned.config.chip) +
         line("Configuration:",
              config::collective_json(advised(advice).config, advice.tuned.config.collective)
                  .dump());
}

std::string to_table(const std::vector<MachineAdvice>& machines) {
  std::vector<output::TableRow> rows = {{"chip", "topology", "quantize", "fastest quantized",
                                         "time", "plain", "speedup", "SQNR", "break-even"}};
  for (const MachineAdvice& machine : machines) rows.push_back(row_of(machine));
  std::string text = output::aligned_table(rows);
  for (const MachineAdvice& machine : machines)
    if (!machine.advice)
      text += fmt::format("  {}, {}: {}\n", machine.chip, machine.topology, machine.why_not);
  return text;
}

input::Json to_json(const Advice& advice) {
  const config::ExperimentConfig& config = advice.tuned.config;
  const input::Json resolved = to_json(config);
  const std::optional<SizeGain> from = break_even_size(advice.sizes);
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
      {"contract", contract::names_json(advice.tuned.options.promises)},
      {"quantize", variation::name(advice.verdict)},
      {"plain", candidate_json(advice.plain, config)},
      {"quantized",
       advice.quantized ? candidate_json(*advice.quantized, config) : input::Json(nullptr)},
      {"nearest", advice.nearest ? candidate_json(*advice.nearest, config) : input::Json(nullptr)},
      {"broken", advice.broken ? to_json(*advice.broken) : input::Json(nullptr)},
      {"speedup", advice.quantized ? input::Json(advice.speedup()) : input::Json(nullptr)},
      {"sensitive_to", variation::to_json(advice.confidence.turning_points)},
      {"to_settle", advice.confidence.widest},
      {"sizes", sizes_json(advice.sizes)},
      {"pays_from_bytes", from ? input::Json(from->bytes) : input::Json(nullptr)},
      {"candidates", advice.tuned.counts.candidates},
      {"not_tried", advice.tuned.counts.not_tried}};
  json["uncertainty"] =
      advice.confidence.uncertainty
          ? input::Json({{"samples", advice.confidence.uncertainty->samples},
                         {"speedup_low", advice.confidence.uncertainty->speedup.low},
                         {"speedup_high", advice.confidence.uncertainty->speedup.high}})
          : input::Json(nullptr);
  return json;
}

input::Json to_json(const std::vector<MachineAdvice>& machines) {
  input::Json list = input::Json::array();
  for (const MachineAdvice& machine : machines)
    list.push_back(
        {{"chip", machine.chip},
         {"topology", machine.topology},
         {"advice", machine.advice ? to_json(*machine.advice) : input::Json(nullptr)},
         {"why_not", machine.advice ? input::Json(nullptr) : input::Json(machine.why_not)}});
  return {{"program", "equarx-sim"}, {"version", output::version()}, {"sites", std::move(list)}};
}

}  // namespace equarx::advise
