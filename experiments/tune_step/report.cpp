#include "experiments/tune_step/report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"
#include "experiments/tune_step/search.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::tune_step {
namespace {

using units::time_text;

std::string decibel_text(double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse), 1); }

std::uint64_t not_tried(const StepTuneResult& result) {
  std::uint64_t count = 0;
  for (const TunedGroup& group : result.groups) count += group.candidates.not_tried;
  return count;
}

// --- JSON

input::Json calls_json(const StepTuneResult& result, const CollectiveGroup& group) {
  input::Json list = input::Json::array();
  for (std::size_t i = 0; i < group.calls.size(); ++i) {
    const config::StepCall& call = result.step.config.calls[group.calls[i]];
    input::Json axes = input::Json::array();
    for (const std::size_t axis : call.call.axes)
      axes.push_back(result.step.config.mesh.axes[axis].name);
    input::Json json = {{"axes", axes}};
    if (call.call.groups)
      json["groups"] = result.step.config.graph.chip_lists[call.call.groups->lists].name;
    json["elements"] = call.call.elements;
    json["tasks"] = group.tasks[i];
    list.push_back(json);
  }
  return list;
}

input::Json candidates_json(const TunedGroup& group) {
  input::Json list = input::Json::array();
  for (std::size_t i = 0; i < group.candidates.list.size(); ++i) {
    const StepCandidate& candidate = group.candidates.list[i];
    list.push_back({{"label", candidate.label},
                    {"isolated_s", candidate.isolated_s},
                    {"core_s", candidate.core_s},
                    {"nmse", candidate.nmse},
                    {"sqnr_db", numerics::sqnr_db(candidate.nmse)},
                    {"only_time_s", input::or_null(group.only_s[i])},
                    {"collective", config::collective_json(candidate.collectives.front(),
                                                           group.group.collective)}});
  }
  return list;
}

input::Json groups_json(const StepTuneResult& result) {
  input::Json list = input::Json::array();
  for (const TunedGroup& group : result.groups)
    list.push_back({{"group", group.group.name},
                    {"collective", config::collective_key(group.group.collective)},
                    {"calls", calls_json(result, group.group)},
                    {"candidates", group.candidates.considered},
                    {"not_tried", group.candidates.not_tried},
                    {"baseline_within", group.candidates.baseline_within},
                    {"ways", candidates_json(group)},
                    {"chosen", group.chosen},
                    {"exposed_s", group.exposed_s}});
  return list;
}

// --- Tables

output::TableRow row_of(const TunedGroup& group, std::size_t index, double baseline_s) {
  const StepCandidate& candidate = group.candidates.list[index];
  const std::optional<double>& only_s = group.only_s[index];
  const bool scaled = candidate.collectives.front().format.scaled;
  return {fmt::format("{}{}{}", candidate.label, scaled || index > 0 ? "" : " (unquantized)",
                      index == group.chosen ? " *" : ""),
          decibel_text(candidate.nmse),
          time_text(candidate.isolated_s),
          time_text(candidate.core_s),
          only_s ? time_text(*only_s) : "-",
          only_s ? fmt::format("{:.3f}x", baseline_s / *only_s) : "-"};
}

std::string group_table(const TunedGroup& group, double baseline_s) {
  std::vector<output::TableRow> rows = {
      {group.group.name, "SQNR", "isolated", "core time", "step time", "speedup"}};
  for (std::size_t candidate = 0; candidate < group.candidates.list.size(); ++candidate)
    rows.push_back(row_of(group, candidate, baseline_s));
  return output::aligned_table(rows) +
         fmt::format("  {} x {}; exposed in the baseline: {}\n\n", group.group.all_tasks(),
                     collectives::name(group.group.collective), time_text(group.exposed_s));
}

std::string groups_tables(const StepTuneResult& result) {
  std::string text;
  for (const TunedGroup& group : result.groups)
    text += group_table(group, result.step.runs.front().time_s);
  return text;
}

std::string choice_note(const StepTuneResult& result) {
  std::string text = fmt::format(
      "  Every collective reaches an SQNR of {} or more against the exact result, computed on a "
      "sample of i.i.d. normal values.\n",
      decibel_text(*result.options.limits.max_nmse));
  text +=
      "  isolated, core time: sums over the tasks of the group, without overlap. step time: with "
      "only "
      "this group changed.\n  exposed: not overlapped with compute. *: chosen.\n";
  for (const TunedGroup& group : result.groups)
    if (!group.candidates.baseline_within)
      text += fmt::format("  The baseline of {} has an SQNR of {}, below the limit.\n",
                          group.group.name, decibel_text(group.candidates.list.front().nmse));
  return text;
}

std::string search_note(const StepTuneResult& result) {
  std::string text = fmt::format(
      "  {} of {} combinations simulated{}; a change is kept if it shortens the step by at least "
      "{:.1f} %.\n",
      result.simulated, result.combinations,
      result.options.exhaustive ? "" : ", changing one group at a time (--exhaustive: all)",
      100.0 * kLeastGain);
  if (const std::uint64_t open = not_tried(result); open > 0)
    text += fmt::format(
        "  SKIPPED: {} candidates of single collectives that take long to simulate and may be "
        "better; "
        "--budget '10 min' allows more.\n",
        open);
  if (!result.finished)
    text += "  INCOMPLETE: the budget ended before the search; better combinations may exist.\n";
  if (!result.obstacle.empty())
    text += fmt::format("  Some combinations cannot run: {}\n", result.obstacle);
  return text;
}

std::string best_note(const StepTuneResult& result) {
  const config::StepVariant& best = result.step.config.variants.back();
  if (result.step.runs.size() == 1 && !result.finished) return "  Best so far: the baseline.\n";
  if (result.step.runs.size() == 1)
    return "  Best: the baseline. No configuration that is accurate enough shortens the step.\n";
  return fmt::format("  Best, as \"quantize\" rules of a variant:\n    {}\n", best.rules->dump());
}

}  // namespace

input::Json best_config(const input::Json& config, const StepTuneResult& result) {
  input::Json best = config;
  best["variants"] = config::variants_json(result.step.config);
  best["baseline"] = result.step.config.variants.front().label;
  return best;
}

input::Json to_json(const StepTuneResult& result, const input::Json& config) {
  const input::Json resolved = config::to_json(result.step.config);
  input::Json json = {{"program", "equarx-sim"},
                      {"version", output::version()},
                      {"config_hash", output::config_hash(resolved)},
                      {"config", resolved},
                      {"max_nmse", *result.options.limits.max_nmse},
                      {"exhaustive", result.options.exhaustive},
                      {"budget_s", input::or_null(result.options.budget_s)},
                      {"groups", groups_json(result)},
                      {"simulated", result.simulated},
                      {"combinations", result.combinations},
                      {"finished", result.finished},
                      {"obstacle", result.obstacle}};
  json["variants"] = input::Json::array();
  for (const step::VariantResult& variant : result.step.runs)
    json["variants"].push_back(result::numbers_json(variant));
  json["best_config"] = best_config(config, result);
  return json;
}

std::string to_table(const StepTuneResult& result) {
  return "Tuning: " + result::title_text(result.step) + groups_tables(result) +
         result::overview_table(result.step) + choice_note(result) + search_note(result) +
         best_note(result);
}

}  // namespace equarx::tune_step
