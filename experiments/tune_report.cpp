#include "experiments/tune_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "experiments/algorithms.hpp"
#include "experiments/config_json.hpp"
#include "experiments/config_parts.hpp"
#include "experiments/result_json.hpp"
#include "experiments/result_table.hpp"
#include "experiments/topology_plan.hpp"
#include "models/units/quantity.hpp"

namespace equarx::experiments {
namespace {

std::string time_text(double seconds) {
  return units::format_short(seconds, units::Dimension::time);
}

std::string decibel_text(double nmse) { return fmt::format("{:.2f} dB", sqnr_db(nmse)); }

std::optional<double> speedup(const TuneResult& result, double time_s) {
  if (result.baseline.failure) return std::nullopt;
  return result.baseline.time_s / time_s;
}

// --- JSON

Json candidate_json(const TuneResult& result, const TunedCandidate& candidate) {
  const std::optional<double> faster = speedup(result, candidate.time_s);
  Json json = {
      {"label", candidate.config.label},
      {"time_s", candidate.time_s},
      {"speedup", faster ? Json(*faster) : Json(nullptr)},
      {"bound_s", candidate.bound_s},
      {"nmse", candidate.nmse},
      {"sqnr_db", sqnr_db(candidate.nmse)},
      {"theory_nmse", candidate.theory_nmse ? Json(*candidate.theory_nmse) : Json(nullptr)},
      {"collective", collective_json(candidate.config, result.config.collective)}};
  if (candidate.minishards) json["minishards"] = *candidate.minishards;
  return json;
}

Json candidates_json(const TuneResult& result, const std::vector<TunedCandidate>& candidates) {
  Json json = Json::array();
  for (const TunedCandidate& candidate : candidates)
    json.push_back(candidate_json(result, candidate));
  return json;
}

Json counts_json(const TuneCounts& counts) {
  return {{"candidates", counts.candidates},
          {"duplicates", counts.duplicates},
          {"by_bound", counts.by_bound},
          {"by_error", counts.by_error},
          {"unfit", counts.unfit},
          {"failed", counts.failed},
          {"simulated", counts.simulated},
          {"errors", counts.errors},
          {"errors_computed", counts.errors_computed}};
}

Json limits_json(const TuneLimits& limits) {
  return {{"max_nmse", limits.max_nmse ? Json(*limits.max_nmse) : Json(nullptr)},
          {"max_time_s", limits.max_time_s ? Json(*limits.max_time_s) : Json(nullptr)}};
}

// --- The table

std::string scales_text(const CollectiveConfig& config) {
  if (!config.format.scaled) return "-";
  return config.format.layout == numerics::ScaleLayout::contiguous
             ? fmt::format("block {}", config.format.block)
             : fmt::format("{}", config.elements_per_scale);
}

TableRow row_of(const TuneResult& result, const TunedCandidate& candidate) {
  const CollectiveConfig& config = candidate.config;
  const std::optional<double> faster = speedup(result, candidate.time_s);
  return {config.label,
          scales_text(config),
          candidate.minishards ? fmt::format("{}", *candidate.minishards) : "varied",
          fmt::format("{}", config.microshards.value()),
          time_text(candidate.time_s),
          faster ? fmt::format("{:.3f}x", *faster) : "-",
          fmt::format("{:.3g}", candidate.nmse),
          decibel_text(candidate.nmse),
          candidate.theory_nmse ? fmt::format("{:.3g}", *candidate.theory_nmse) : "-"};
}

std::string title(const TuneResult& result) {
  const ExperimentConfig& config = result.config;
  return fmt::format(
      "Tuning {}{} of {} of {} on each of {} x {}, {}\n\n",
      config.workload ? config.workload->model.name + ", with " : "",
      collectives::name(config.collective),
      units::format_short(static_cast<double>(config.tensor.bytes()), units::Dimension::bytes),
      numerics::name(config.tensor.dtype), result.baseline.chips, config.chip.name,
      topology_text(config.topology));
}

std::string baseline_note(const TuneResult& result) {
  const RunResult& baseline = result.baseline;
  const double nmse = baseline.numerics->against_exact.nmse;
  return fmt::format("  Speedup over the baseline, {}: {}, NMSE {:.3g} ({}).\n", baseline.label,
                     baseline.failure ? "which fails" : time_text(baseline.time_s), nmse,
                     decibel_text(nmse));
}

std::string counts_note(const TuneResult& result) {
  const TuneCounts& counts = result.counts;
  std::string text = fmt::format(
      "  {} candidates ({} more cut the tensor as others do): {} left out by bounds on their time, "
      "{} by their error, {} that cannot run or take too much to try; {} simulated{}.\n",
      counts.candidates, counts.duplicates, counts.by_bound, counts.by_error, counts.unfit,
      counts.simulated,
      counts.failed > 0 ? fmt::format(", and {} stopped by a broken link", counts.failed) : "");
  text += fmt::format(
      "  NMSE: {} of {} different errors were computed, on {:.3g} % of the elements, against the "
      "exact sum of all ranks.\n",
      counts.errors_computed, counts.errors, 100.0 * result.sampled_fraction);
  if (result.theory_refuted)
    text +=
        "  An error was smaller than theory allows, so theory was not used to leave candidates "
        "out.\n";
  return text;
}

std::string unsuited_note(const TuneResult& result) {
  std::string text;
  for (const UnsuitedScheme& other : result.unsuited)
    text += fmt::format("  Not tried: {}: {}\n", other.scheme, other.reason);
  return text;
}

std::string best_note(const TuneResult& result) {
  const TuneLimits& limits = result.options.limits;
  std::string_view why = "the fastest; --min-sqnr asks for accuracy";
  if (limits.max_nmse)
    why = "the fastest within the limits";
  else if (limits.max_time_s)
    why = "the most accurate within the time";
  return fmt::format(
      "  Best ({}):\n    {}\n", why,
      collective_json(result.front[result.best].config, result.config.collective).dump());
}

}  // namespace

Json best_config(const Json& config, const TuneResult& result) {
  Json baseline = config.at("collectives").at(result.baseline_index);
  baseline["label"] = result.baseline.label;
  CollectiveConfig tuned = result.front[result.best].config;
  tuned.label = result.baseline.label == "tuned" ? "tuned again" : "tuned";
  Json best = config;
  best["collectives"] =
      Json::array({std::move(baseline), collective_json(tuned, result.config.collective)});
  best["baseline"] = result.baseline.label;
  return best;
}

Json to_json(const TuneResult& result, const Json& config) {
  const double nmse = result.baseline.numerics->against_exact.nmse;
  const Json resolved = to_json(result.config);
  return {{"program", "equarx-sim"},
          {"version", version()},
          {"config_hash", config_hash(resolved)},
          {"config", resolved},
          {"chips", result.baseline.chips},
          {"limits", limits_json(result.options.limits)},
          {"exhaustive", result.options.exhaustive},
          {"counts", counts_json(result.counts)},
          {"sampled_fraction", result.sampled_fraction},
          {"theory_refuted", result.theory_refuted},
          {"baseline",
           {{"label", result.baseline.label},
            {"time_s", result.baseline.failure ? Json(nullptr) : Json(result.baseline.time_s)},
            {"nmse", nmse},
            {"sqnr_db", sqnr_db(nmse)}}},
          {"front", candidates_json(result, result.front)},
          {"others", candidates_json(result, result.others)},
          {"best", result.best},
          {"best_config", best_config(config, result)}};
}

std::string to_table(const TuneResult& result) {
  std::vector<TableRow> rows = {{"collective", "per scale", "minishards", "microshards", "time",
                                 "speedup", "NMSE", "SQNR", "theory's NMSE"}};
  for (const TunedCandidate& candidate : result.front) rows.push_back(row_of(result, candidate));
  return title(result) + aligned_table(rows) + '\n' + baseline_note(result) + counts_note(result) +
         unsuited_note(result) + best_note(result);
}

}  // namespace equarx::experiments
