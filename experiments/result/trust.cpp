#include "experiments/result/trust.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/output/table.hpp"
#include "models/hardware/uncertainty.hpp"

namespace equarx::result {
namespace {

/// True if a parameter changes a figure visibly.
bool is_visible(const run::Sensitivity& sensitivity) {
  constexpr double kShown = 0.0005;  // rounds to 0.001
  return std::ranges::any_of(sensitivity.runs, [](const run::Elasticity& run) {
    return std::max(std::abs(run.time), std::abs(run.speedup)) >= kShown;
  });
}

output::TableRow headings(const run::ExperimentResult& result) {
  output::TableRow row = {"parameter", "value", "class", "uncertainty"};
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    row.push_back("time of " + result.runs[i].label);
    if (i != result.config.baseline) row.emplace_back("speedup");
  }
  return row;
}

output::TableRow row_of(const run::Sensitivity& one, std::size_t baseline) {
  output::TableRow row = {
      one.parameter, hardware::format_value(*hardware::find_parameter(one.parameter), one.value),
      std::string(hardware::name(one.provenance)),
      one.relative_uncertainty > 0.0 ? output::percent_text(one.relative_uncertainty, 2) : "-"};
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    row.push_back(fmt::format("{:+.3f}", one.runs[i].time));
    if (i != baseline) row.push_back(fmt::format("{:+.3f}", one.runs[i].speedup));
  }
  return row;
}

}  // namespace

std::string trust_note(const run::ExperimentResult& result) {
  const hardware::Chip& chip = result.config.chip;
  std::string text;
  if (!chip.is_calibrated())
    text += fmt::format(
        "  Not calibrated: no parameter was fitted to measurements of {}; its hardware file lists "
        "the assumptions.\n",
        chip.name);
  if (result.config.uncertainty.samples == 0) return text;
  const auto uncertain = hardware::uncertain_parameters(chip);
  if (!result.runs.front().uncertainty)
    return text + fmt::format("  No intervals: {}.\n",
                              uncertain.empty()
                                  ? "no parameter of the hardware file has an uncertainty"
                                  : "a collective fails");
  return text + fmt::format(
                    "  68 % interval: Monte Carlo over the uncertainty of {} parameters, n = {}.\n",
                    uncertain.size(), result.runs.front().uncertainty->samples);
}

std::string sensitivity_table(const run::ExperimentResult& result) {
  if (result.sensitivities.empty()) return {};
  std::vector<output::TableRow> rows = {headings(result)};
  std::vector<std::string> invisible;
  for (const run::Sensitivity& one : result.sensitivities)
    if (is_visible(one))
      rows.push_back(row_of(one, result.config.baseline));
    else
      invisible.push_back(one.parameter);
  std::string text = '\n' + output::aligned_table(rows) + '\n' +
                     "  Change of a figure in per cent if the parameter grows by 1 %.\n";
  if (!invisible.empty()) text += fmt::format("  No effect: {}.\n", fmt::join(invisible, ", "));
  return text;
}

}  // namespace equarx::result
