#include "experiments/tune/report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/result/metrics.hpp"
#include "experiments/result/run_metrics.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::tune {
namespace {

/// "-" if the result is NaN or Inf where it should not be.
std::string nmse_text(double nmse) {
  return std::isfinite(nmse) ? fmt::format("{:.3g}", nmse) : "-";
}
std::string decibel_text(double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse)); }

std::optional<double> speedup(const TuneResult& result, double time_s) {
  if (result.baseline.failure) return std::nullopt;
  return result.baseline.time_s / time_s;
}

// --- JSON

input::Json candidate_json(const TuneResult& result, const TunedCandidate& candidate) {
  const std::optional<double> faster = speedup(result, candidate.time_s);
  input::Json json = {
      {"label", candidate.config.label},
      {"time_s", candidate.time_s},
      {"speedup", input::or_null(faster)},
      {"bound_s", candidate.bound_s},
      {"nmse", candidate.nmse},
      {"sqnr_db", numerics::sqnr_db(candidate.nmse)},
      {"theory_nmse", input::or_null(candidate.theory_nmse)},
      {"collective", config::collective_json(candidate.config, result.config.collective)}};
  if (candidate.minishards) json["minishards"] = *candidate.minishards;
  result::add_metrics(result::expense_metrics(), candidate.expenses, json);
  return json;
}

input::Json baseline_json(const run::RunResult& baseline) {
  const double nmse = baseline.numerics->against_exact.comparable_nmse();
  input::Json json = {
      {"label", baseline.label},
      {"time_s", baseline.failure ? input::Json(nullptr) : input::Json(baseline.time_s)},
      {"nmse", nmse},
      {"sqnr_db", numerics::sqnr_db(nmse)}};
  result::add_metrics(result::expense_metrics(), baseline.expenses, json);
  return json;
}

input::Json candidates_json(const TuneResult& result,
                            const std::vector<TunedCandidate>& candidates) {
  input::Json json = input::Json::array();
  for (const TunedCandidate& candidate : candidates)
    json.push_back(candidate_json(result, candidate));
  return json;
}

input::Json counts_json(const TuneCounts& counts) {
  return {{"candidates", counts.candidates},
          {"duplicates", counts.duplicates},
          {"by_bound", counts.by_bound},
          {"by_error", counts.by_error},
          {"by_contract", counts.by_contract},
          {"cannot_run", counts.cannot_run},
          {"not_tried", counts.not_tried},
          {"failed", counts.failed},
          {"simulated", counts.simulated},
          {"errors", counts.errors},
          {"errors_computed", counts.errors_computed}};
}

input::Json infeasible_json(const std::vector<InfeasibleCandidates>& infeasible) {
  input::Json json = input::Json::array();
  for (const InfeasibleCandidates& some : infeasible)
    json.push_back({{"reason", some.reason}, {"count", some.count}, {"example", some.example}});
  return json;
}

input::Json skipped_json(const TuneResult& result) {
  input::Json json = input::Json::array();
  for (const SkippedCandidates& some : result.skipped)
    json.push_back(
        {{"label", some.config.label},
         {"bound_s", some.bound_s},
         {"nmse_floor", some.nmse_floor},
         {"cost_s", some.cost_s},
         {"reason", some.reason},
         {"count", some.count},
         {"collective", config::collective_json(some.config, result.config.collective)}});
  return json;
}

input::Json limits_json(const TuneLimits& limits) {
  return {{"max_nmse", input::or_null(limits.max_nmse)},
          {"max_time_s", input::or_null(limits.max_time_s)}};
}

std::vector<contract::KeptBy> kept_by(const TuneResult& result) {
  std::vector<contract::KeptBy> rows;
  for (const PromiseCost& cost : result.promise_costs)
    rows.push_back(cost.fastest ? contract::KeptBy{cost.promises, cost.fastest->config.label,
                                                   cost.fastest->time_s}
                                : contract::KeptBy{cost.promises, {}, 0.0});
  return rows;
}

/// null without promises.
input::Json contract_json(const TuneResult& result) {
  if (result.options.promises.empty()) return nullptr;
  input::Json broken = input::Json::array();
  for (const BrokenPromises& some : result.broken) broken.push_back(to_json(some));
  return {{"promises", contract::names_json(result.options.promises)},
          {"broken", std::move(broken)},
          {"costs", contract::costs_json(kept_by(result))}};
}

// --- The table

std::string scales_text(const config::CollectiveConfig& config) {
  if (!config.format.scaled) return "-";
  return config.format.layout != numerics::ScaleLayout::strided
             ? fmt::format("block {}", config.format.block)
             : fmt::format("{}", config.elements_per_scale);
}

/// "8x4", minishards x microshards; "*x4" if minishards differ between chunks.
std::string tiling_text(const TunedCandidate& candidate) {
  return fmt::format("{}x{}", candidate.minishards ? fmt::format("{}", *candidate.minishards) : "*",
                     candidate.config.microshards.value());
}

output::TableRow row_of(const TuneResult& result, const TunedCandidate& candidate) {
  const config::CollectiveConfig& config = candidate.config;
  const std::optional<double> faster = speedup(result, candidate.time_s);
  output::TableRow row = {config.label, scales_text(config), tiling_text(candidate)};
  row.insert(row.end(),
             {units::time_text(candidate.time_s), faster ? fmt::format("{:.3f}x", *faster) : "-",
              nmse_text(candidate.nmse), decibel_text(candidate.nmse),
              candidate.theory_nmse ? fmt::format("{:.3g}", *candidate.theory_nmse) : "-"});
  return row;
}

output::TableRow header() {
  return {"collective", "per scale", "tiling", "time", "speedup", "NMSE", "SQNR", "predicted"};
}

std::string title(const TuneResult& result) {
  const config::ExperimentConfig& config = result.config;
  return fmt::format("Tuning {} of {} of {} on each of {} x {}, {}\n\n",
                     collectives::name(config.collective),
                     units::bytes_text(static_cast<double>(config.tensor.bytes())),
                     numerics::name(config.tensor.dtype), result.baseline.chips, config.chip.name,
                     config::topology_text(config.topology));
}

std::string columns_note(const TuneResult& result) {
  const bool phases = std::ranges::any_of(result.front, [](const TunedCandidate& candidate) {
    return candidate.config.quantize != config::QuantizedPhases::both;
  });
  return fmt::format(
      "  tiling: minishards x microshards (*: minishards vary). predicted: theoretical NMSE.{}\n",
      phases ? " RS/AG only: only that phase is quantized." : "");
}

std::string baseline_note(const TuneResult& result) {
  const run::RunResult& baseline = result.baseline;
  const double nmse = baseline.numerics->against_exact.comparable_nmse();
  return fmt::format("  Speedup over the baseline, {}: {}, NMSE {} ({}).\n", baseline.label,
                     baseline.failure ? "which fails" : units::time_text(baseline.time_s),
                     nmse_text(nmse), decibel_text(nmse));
}

std::string nonfinite_note(const TuneResult& result) {
  std::string text;
  for (const std::string& input : values::texts_of(result.nonfinite_inputs))
    text += fmt::format("  Warning: {}; errors leave such elements out.\n", input);
  return text;
}

std::string counts_note(const TuneResult& result) {
  const TuneCounts& counts = result.counts;
  std::string text = fmt::format(
      "  {} candidates (plus {} with the tiling of another): {} pruned by time bound, {} by "
      "error{}; "
      "{} infeasible, {} skipped; {} simulated{}.\n",
      counts.candidates, counts.duplicates, counts.by_bound, counts.by_error,
      counts.by_contract > 0 ? fmt::format(", {} by contract", counts.by_contract) : "",
      counts.cannot_run, counts.not_tried, counts.simulated,
      counts.failed > 0 ? fmt::format(", {} stopped by a link failure", counts.failed) : "");
  text += fmt::format(
      "  NMSE: {} of {} distinct errors computed, on {:.3g} % of the elements, against the exact "
      "sum "
      "of all ranks.\n",
      counts.errors_computed, counts.errors, 100.0 * result.sampled_fraction);
  if (result.theory_refuted)
    text +=
        "  A computed error was below its theoretical bound, so theory was not used for pruning.\n";
  return text;
}

std::string infeasible_schemes_note(const TuneResult& result) {
  std::string text;
  for (const InfeasibleScheme& other : result.infeasible_schemes)
    text += fmt::format("  Infeasible: {}: {}\n", other.scheme, other.reason);
  return text;
}

/// Reasons of infeasible candidates, most frequent first.
std::string infeasible_note(std::vector<InfeasibleCandidates> infeasible) {
  constexpr std::size_t kMostReasons = 4;
  std::ranges::stable_sort(infeasible, std::greater(), &InfeasibleCandidates::count);
  std::string text;
  for (std::size_t i = 0; i < std::min(infeasible.size(), kMostReasons); ++i)
    text += fmt::format("  Infeasible: {} candidates, first {}: {}\n", infeasible[i].count,
                        infeasible[i].example, infeasible[i].reason);
  if (infeasible.size() > kMostReasons)
    text += fmt::format("  Infeasible for {} other reasons; --json lists all.\n",
                        infeasible.size() - kMostReasons);
  return text;
}

/// True if the bounds allow a skipped candidate to be better than the best of the front.
bool may_be_best(const SkippedCandidates& some, const TuneResult& result) {
  const bool for_accuracy = result.options.limits.max_time_s && !result.options.limits.max_nmse;
  const TunedCandidate& best = result.front[result.best];
  return for_accuracy ? some.nmse_floor < best.nmse : some.bound_s < best.time_s;
}

std::string skipped_line(const SkippedCandidates& some) {
  const bool scaled = some.config.format.scaled;
  return fmt::format("    {}{}: at least {}; {}\n", some.config.label,
                     scaled ? fmt::format(", {} per scale", scales_text(some.config)) : "",
                     units::time_text(some.bound_s), some.reason);
}

/// Skipped candidates that may be on the front, potentially best ones first. Empty if the front is
/// proved.
std::string skipped_note(const TuneResult& result) {
  if (result.skipped.empty()) return {};
  constexpr std::size_t kMostLines = 4;
  std::vector<SkippedCandidates> skipped = result.skipped;
  std::ranges::stable_sort(skipped, std::greater(), [&](const SkippedCandidates& some) {
    return may_be_best(some, result);
  });
  const bool best = may_be_best(skipped.front(), result);
  std::string text = fmt::format(
      "  SKIPPED, and may be {}: {} candidates that need more than {}; --budget '10 min' allows "
      "more.\n",
      best ? "better than the best" : "on the front", result.counts.not_tried,
      result.options.budget_s ? "the remaining budget" : "10 s or 2 GiB each");
  for (std::size_t i = 0; i < std::min(skipped.size(), kMostLines); ++i)
    text += skipped_line(skipped[i]);
  if (skipped.size() > kMostLines)
    text += fmt::format("    and {} others; --json lists all\n", skipped.size() - kMostLines);
  return text + '\n';
}

/// The cost of each promise, and how candidates break them.
std::string contract_note(const TuneResult& result) {
  if (result.options.promises.empty()) return {};
  std::string text = '\n' + contract::costs_table(kept_by(result)) + '\n';
  for (const BrokenPromises& some : result.broken)
    text += fmt::format("  Broken: {}, by {} candidates, first {}: {}\n",
                        contract::name(some.promise), some.count, some.example, some.reason);
  return text;
}

std::string best_note(const TuneResult& result) {
  const TuneLimits& limits = result.options.limits;
  std::string_view why = "the fastest; --min-sqnr limits the error";
  if (!result.options.promises.empty() && !limits.max_time_s)
    why = limits.max_nmse ? "the fastest within the limits that keeps the contract"
                          : "the fastest that keeps the contract";
  else if (limits.max_nmse)
    why = "the fastest within the limits";
  else if (limits.max_time_s)
    why = "the most accurate within the time limit";
  return fmt::format(
      "  Best ({}):\n    {}\n", why,
      config::collective_json(result.front[result.best].config, result.config.collective).dump());
}

}  // namespace

input::Json best_config(const input::Json& config, const TuneResult& result) {
  input::Json baseline = config.at("collectives").at(result.baseline_index);
  baseline["label"] = result.baseline.label;
  config::CollectiveConfig tuned = result.front[result.best].config;
  tuned.label = result.baseline.label == "tuned" ? "tuned again" : "tuned";
  input::Json best = config;
  best["collectives"] = input::Json::array(
      {std::move(baseline), config::collective_json(tuned, result.config.collective)});
  best["baseline"] = result.baseline.label;
  return best;
}

input::Json to_json(const BrokenPromises& some) {
  return {{"promise", contract::name(some.promise)},
          {"reason", some.reason},
          {"example", some.example},
          {"count", some.count}};
}

input::Json to_json(const TuneResult& result, const input::Json& config) {
  const input::Json resolved = to_json(result.config);
  return {{"program", "equarx-sim"},
          {"version", output::version()},
          {"config_hash", output::config_hash(resolved)},
          {"config", resolved},
          {"chips", result.baseline.chips},
          {"calibrated", result.baseline.calibrated},
          {"limits", limits_json(result.options.limits)},
          {"exhaustive", result.options.exhaustive},
          {"budget_s", input::or_null(result.options.budget_s)},
          {"counts", counts_json(result.counts)},
          {"contract", contract_json(result)},
          {"cannot_run", infeasible_json(result.infeasible)},
          {"not_tried", skipped_json(result)},
          {"front_is_proved", result.skipped.empty()},
          {"sampled_fraction", result.sampled_fraction},
          {"theory_refuted", result.theory_refuted},
          {"baseline", baseline_json(result.baseline)},
          {"front", candidates_json(result, result.front)},
          {"others", candidates_json(result, result.others)},
          {"best", result.best},
          {"best_config", best_config(config, result)}};
}

std::string to_table(const TuneResult& result) {
  std::vector<output::TableRow> rows = {header()};
  for (const TunedCandidate& candidate : result.front) rows.push_back(row_of(result, candidate));
  return title(result) + skipped_note(result) + output::aligned_table(rows) + '\n' +
         columns_note(result) + contract_note(result) + baseline_note(result) +
         nonfinite_note(result) + counts_note(result) + infeasible_note(result.infeasible) +
         infeasible_schemes_note(result) + best_note(result);
}

}  // namespace equarx::tune
