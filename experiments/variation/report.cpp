#include "experiments/variation/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/parameter_json.hpp"
#include "experiments/variation/discrepancy.hpp"

namespace equarx::variation {
namespace {

/// Measured rows in a note.
constexpr std::size_t kNearest = 2;

/// True if a parameter changes a figure visibly.
bool is_visible(const Sensitivity& sensitivity) {
  constexpr double kShown = 0.0005;  // rounds to 0.001
  return std::ranges::any_of(sensitivity.runs, [](const Elasticity& run) {
    return std::max(std::abs(run.time), std::abs(run.speedup)) >= kShown;
  });
}

output::TableRow headings(const std::vector<std::string>& labels, std::size_t baseline) {
  output::TableRow row = {"parameter", "value", "class", "uncertainty"};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    row.push_back("time of " + labels[i]);
    if (i != baseline) row.emplace_back("speedup");
  }
  return row;
}

output::TableRow row_of(const Sensitivity& one, std::size_t baseline) {
  output::TableRow row = {
      one.parameter, one.text, std::string(hardware::name(one.provenance)),
      one.relative_uncertainty > 0.0 ? output::percent_text(one.relative_uncertainty, 2) : "-"};
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    row.push_back(fmt::format("{:+.3f}", one.runs[i].time));
    if (i != baseline) row.push_back(fmt::format("{:+.3f}", one.runs[i].speedup));
  }
  return row;
}

}  // namespace

input::Json parameters_json(const config::MachineParameters& machine) {
  input::Json json = config::parameters_json(machine.chip);
  for (const config::MachineParameter& one : config::all_parameters(machine))
    if (one.of_network != nullptr)
      json[std::string(one.info->key)] = config::parameter_json(*one.info, one.in(machine));
  return json;
}

input::Json to_json(const std::vector<Sensitivity>& sensitivities,
                    const std::vector<std::string>& labels) {
  input::Json list = input::Json::array();
  for (const Sensitivity& one : sensitivities) {
    input::Json json = {{"parameter", one.parameter},
                        {"value", one.value},
                        {"class", hardware::name(one.provenance)},
                        {"relative_uncertainty", one.relative_uncertainty},
                        {"runs", input::Json::array()}};
    for (std::size_t i = 0; i < labels.size(); ++i)
      json["runs"].push_back(
          {{"label", labels[i]}, {"time", one.runs[i].time}, {"speedup", one.runs[i].speedup}});
    list.push_back(std::move(json));
  }
  return list;
}

input::Json to_json(const std::vector<TurningPoint>& points) {
  input::Json json = input::Json::array();
  for (const TurningPoint& point : points)
    json.push_back(
        {{"parameter", point.parameter}, {"value", point.value}, {"turns_at", point.turns_at}});
  return json;
}

std::string trust_note(const accuracy::Asked& asked, const config::MachineParameters& machine,
                       std::uint32_t samples, const std::optional<Uncertainty>& uncertainty) {
  std::string text;
  if (!machine.chip.is_calibrated())
    text += fmt::format(
        "  Not calibrated: no parameter was fitted to measurements of {}; its hardware file lists "
        "the assumptions.\n",
        machine.chip.name);
  text += fmt::format("  Error of the model in {}.\n", discrepancy_text(asked.question));
  text += accuracy::nearest_text(accuracy::nearest(accuracy::built_in_rows(), asked, kNearest));
  if (samples == 0) return text;
  const std::size_t uncertain = config::uncertain_parameters(machine).size();
  if (!uncertainty)
    return text + fmt::format("  No intervals: {}.\n",
                              uncertain == 0
                                  ? "no parameter of the hardware file has an uncertainty"
                                  : "a collective fails");
  return text + fmt::format(
                    "  68 % interval: Monte Carlo over the uncertainty of {} parameters{}, n = "
                    "{}.\n",
                    uncertain, is_known(asked.question) ? " and the error of the model" : "",
                    uncertainty->samples);
}

std::string sensitivity_table(const std::vector<Sensitivity>& sensitivities,
                              const std::vector<std::string>& labels, std::size_t baseline) {
  if (sensitivities.empty()) return {};
  std::vector<output::TableRow> rows = {headings(labels, baseline)};
  std::vector<std::string> invisible;
  for (const Sensitivity& one : sensitivities)
    if (is_visible(one))
      rows.push_back(row_of(one, baseline));
    else
      invisible.push_back(one.parameter);
  std::string text = '\n' + output::aligned_table(rows) + '\n' +
                     "  Change of a figure in per cent if the parameter grows by 1 %.\n";
  if (!invisible.empty()) text += fmt::format("  No effect: {}.\n", fmt::join(invisible, ", "));
  return text;
}

std::string time_text(const Uncertainty& uncertainty) {
  return output::range_text(units::time_text(uncertainty.time_s.low),
                            units::time_text(uncertainty.time_s.high));
}

std::string speedup_text(const Uncertainty& uncertainty) {
  return fmt::format("{:.3f} to {:.3f}", uncertainty.speedup.low, uncertainty.speedup.high);
}

}  // namespace equarx::variation
