#include "experiments/inspect/hardware.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/table.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/slices_json.hpp"

namespace equarx::inspect {
namespace {

/// Parameters of the overview table.
constexpr std::array kOverview = {&hardware::Chip::links, &hardware::Chip::link_bandwidth,
                                  &hardware::Chip::hbm_capacity, &hardware::Chip::hbm_bandwidth,
                                  &hardware::Chip::matrix_rate_bf16};

const hardware::ParameterInfo& info_of(hardware::Parameter hardware::Chip::*member) {
  return *std::ranges::find(hardware::parameters(), member, &hardware::ParameterInfo::member);
}

std::string calibration_text(const hardware::Calibration& calibration) {
  std::vector<output::TableRow> rows = {{"observation", "role", "measured", "+-", "simulated"}};
  for (const hardware::Observation& seen : calibration.observations) {
    const auto text = [&](double value) { return units::format_short(value, seen.dimension); };
    rows.push_back({seen.what, std::string(name(seen.role)), text(seen.measured),
                    text(seen.standard_error), text(seen.simulated)});
  }
  return fmt::format("\n{}\n{}",
                     output::correlation_table(calibration.parameters, calibration.correlation),
                     output::aligned_table(rows));
}

}  // namespace

std::vector<hardware::Chip> built_in_chips() {
  std::vector<hardware::Chip> chips;
  for (const input::EmbeddedFile& file : input::embedded_hardware())
    chips.push_back(config::read_chip(input::parse_json(file.text)));
  return chips;
}

std::string to_table(std::span<const hardware::Chip> chips) {
  std::vector<output::TableRow> rows = {
      {"name", "links", "link bandwidth", "HBM", "HBM bandwidth", "bf16 peak"}};
  std::string descriptions;
  for (const hardware::Chip& chip : chips) {
    output::TableRow& row = rows.emplace_back(output::TableRow{chip.name});
    for (const auto member : kOverview) row.push_back(format_value(info_of(member), chip.*member));
    descriptions += fmt::format("  {}: {}\n", chip.name, chip.description);
  }
  return fmt::format(
      "{}\n{}\n  'equarx-sim hardware NAME' shows every parameter with its source.\n",
      output::aligned_table(rows), descriptions);
}

input::Json to_json(std::span<const hardware::Chip> chips) {
  input::Json json = input::Json::array();
  for (const hardware::Chip& chip : chips) {
    input::Json& entry =
        json.emplace_back(input::Json{{"name", chip.name}, {"description", chip.description}});
    for (const auto member : kOverview) {
      const std::string key{info_of(member).key};
      entry[key] = config::parameters_json(chip)[key]["value"];
    }
  }
  return json;
}

std::string to_report(const hardware::Chip& chip) {
  std::vector<output::TableRow> rows;
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    if (is_absent(chip, info)) continue;
    const hardware::Parameter& parameter = chip.*info.member;
    rows.push_back({std::string(info.key), format_value(info, parameter),
                    uncertainty_text(info, parameter), std::string(name(parameter.provenance))});
  }
  std::string text =
      fmt::format("{}: {}\n\n{}\n", chip.name, chip.description, output::aligned_table(rows));
  text += fmt::format("  slices: {}; axes in any order ({})\n  wraparound: {}\n\n",
                      config::slices_text(chip.slices), name(chip.slices.provenance),
                      config::wraparound_text(chip.slices));
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (!is_absent(chip, info))
      text +=
          fmt::format("  {}: {}\n    {}\n", info.key, info.description, (chip.*info.member).source);
  text += fmt::format("  slices:\n    {}\n", chip.slices.source);
  return chip.calibration ? text + calibration_text(*chip.calibration) : text;
}

}  // namespace equarx::inspect
