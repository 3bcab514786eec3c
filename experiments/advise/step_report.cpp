#include "experiments/advise/step_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "experiments/advise/text.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/result/expenses_note.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"
#include "experiments/variation/report.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/numerics/errors/perplexity.hpp"

namespace equarx::advise {
namespace {

using variation::Verdict;

std::string quantize_text(const StepAdvice& advice) {
  const auto quantized = std::ranges::count(advice.groups, Verdict::yes, &GroupAdvice::verdict);
  switch (advice.verdict) {
    case Verdict::yes:
      return fmt::format("yes: {} of {} groups of collectives", quantized, advice.groups.size());
    case Verdict::no:
      return advice.quantizes() ? "no: the step is slower"
                                : "no: no configuration within the limits shortens the step";
    case Verdict::unclear:
      return advice.quantizes() ? "unclear: the speedup interval includes 1.00x"
                                : "unclear: the speedup interval of a group includes 1.00x";
  }
  return {};
}

std::string interval_text(const std::optional<variation::Interval>& interval) {
  if (!interval) return {};
  return fmt::format(", {} to {}", speedup_text(interval->low), speedup_text(interval->high));
}

std::string group_text(const GroupAdvice& group) {
  std::string text(variation::name(group.verdict));
  if (!group.candidate) return fmt::format("{}: {}", text, group.reason);
  text +=
      fmt::format(": {}; step {}{}; SQNR {}", group.candidate->label, speedup_text(group.speedup),
                  interval_text(group.interval), sqnr_text(group.candidate->nmse));
  if (!group.reason.empty()) text += "; " + group.reason;
  if (group.break_even)
    text +=
        fmt::format("; break-even {}", units::bytes_text(static_cast<double>(*group.break_even)));
  return text;
}

std::string error_text(const StepAdvice& advice) {
  return fmt::format("SQNR {} at worst, {} in the mean by bytes; limits: {}",
                     sqnr_text(advice.worst_nmse), sqnr_text(advice.mean_nmse),
                     limits_text(advice.tuned.options.limits));
}

std::string quality_text(const StepAdvice& advice) {
  if (advice.compared.config.training)
    return "not covered: the rule of docs/quality.md is for activations, not gradients";
  return numerics::perplexity_text(advice.worst_nmse) +
         ", measured on a model of 1.07 million weights (docs/quality.md)";
}

std::string search_text(const StepAdvice& advice) {
  std::uint64_t skipped = 0;
  for (const tune_step::TunedGroup& group : advice.tuned.groups)
    skipped += group.candidates.not_tried;
  std::string text = skipped == 0
                         ? "none that might be better"
                         : fmt::format("{} candidates that may be better; see --budget", skipped);
  text += fmt::format("; {} of {} combinations simulated", advice.tuned.simulated,
                      advice.tuned.combinations);
  if (!advice.tuned.finished) text += "; the budget ended the search";
  return text;
}

const config::StepVariant& advised(const StepAdvice& advice) {
  return advice.compared.config.variants.back();
}

input::Json group_json(const GroupAdvice& group, const tune_step::TunedGroup& tuned) {
  input::Json json = {{"group", group.name},
                      {"quantize", variation::name(group.verdict)},
                      {"reason", group.reason},
                      {"share_of_bytes", group.share},
                      {"break_even_bytes", input::or_null(group.break_even)}};
  if (!group.candidate) return json;
  json["label"] = group.candidate->label;
  json["collective"] =
      config::collective_json(group.candidate->collectives.front(), tuned.group.collective);
  json["nmse"] = group.candidate->nmse;
  json["sqnr_db"] = numerics::sqnr_db(group.candidate->nmse);
  json["step_speedup"] = group.speedup;
  json["step_speedup_low"] = group.interval ? input::Json(group.interval->low) : nullptr;
  json["step_speedup_high"] = group.interval ? input::Json(group.interval->high) : nullptr;
  return json;
}

}  // namespace

std::string to_text(const StepAdvice& advice) {
  std::string text = "Advice for: " + result::title_text(advice.compared) +
                     line("Quantize?", quantize_text(advice));
  for (const GroupAdvice& group : advice.groups)
    text += line("", fmt::format("{}: {}", group.name, group_text(group)));
  const step::VariantResult& plain = advice.compared.runs.front();
  if (advice.quantizes())
    text +=
        line("Time:", time_text(advice.compared.runs.back().time_s, plain.time_s, plain.label)) +
        line("68 % interval:",
             interval_text(advice.confidence, advice.compared.config.machine.chip.name)) +
        line("Error:", error_text(advice)) + line("Perplexity:", quality_text(advice)) +
        line("Most sensitive to:", sensitivity_text(advice.confidence));
  else
    text += line("Time:", fmt::format("{}: {}", plain.label, units::time_text(plain.time_s)));
  if (const std::string cost = result::cost_text(advice.compared); !cost.empty())
    text += line("Cost:", cost);
  text += settling_line(advice.verdict, advice.confidence) + line("Skipped:", search_text(advice));
  return text + trust_lines(advice.compared.config.machine.chip) +
         line("Rules:", advised(advice).rules->dump());
}

input::Json to_json(const StepAdvice& advice) {
  input::Json json = result::to_json(advice.compared);
  input::Json& made = json["advice"];
  made = {{"quantize", variation::name(advice.verdict)},
          {"speedup", advice.speedup()},
          {"worst_nmse", advice.worst_nmse},
          {"mean_nmse", advice.mean_nmse},
          {"limits", {{"max_nmse", input::or_null(advice.tuned.options.limits.max_nmse)}}},
          {"sensitive_to", variation::to_json(advice.confidence.turning_points)},
          {"to_settle", advice.confidence.widest},
          {"rules", *advised(advice).rules}};
  made["uncertainty"] = advice.confidence.uncertainty
                            ? result::to_json(*advice.confidence.uncertainty)
                            : input::Json(nullptr);
  made["groups"] = input::Json::array();
  for (std::size_t i = 0; i < advice.groups.size(); ++i)
    made["groups"].push_back(group_json(advice.groups[i], advice.tuned.groups[i]));
  return json;
}

}  // namespace equarx::advise
