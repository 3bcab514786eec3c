#include "experiments/config/chip_changes.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "experiments/config/parameter_json.hpp"
#include "models/hardware/workgroups.hpp"

namespace equarx::config {
namespace {

using hardware::Calibration;
using hardware::Chip;
using hardware::Parameter;
using hardware::ParameterInfo;

/// Prefix of the source of a value given without one.
constexpr std::string_view kChosen = "chosen by the user";

bool is_bare(const Parameter& parameter) {
  return parameter.source.starts_with(kChosen) && !parameter.range;
}

/// Reads a parameter; std::nullopt if `chip` already has that value.
std::optional<Parameter> read_change(input::ObjectReader& reader, const Chip& chip,
                                     const ParameterInfo& info) {
  const input::Json& json = reader.required(info.key, "a value");
  if (json.is_object()) return read_parameter(reader.object(info.key), info);
  const Parameter& before = chip.*info.member;
  const double value = read_parameter_value(json, reader.pointer_to(info.key), info);
  if (value == before.value) return std::nullopt;
  return Parameter{
      .value = value,
      .provenance = hardware::Provenance::assumed,
      .source = hardware::is_absent(chip, info)
                    ? fmt::format("{}; {} has none", kChosen, chip.name)
                    : fmt::format("{}; {} has {}", kChosen, chip.name, format_value(info, before))};
}

/// True if a time depends on a change.
bool affect_times(const ChipChanges& changes) {
  return std::ranges::any_of(changes, &ParameterInfo::affects_times);
}

/// Drops the changed parameters from the correlation matrix, and all observations: none was made on
/// the changed chip.
std::optional<Calibration> calibration_without(const Calibration& whole,
                                               const ChipChanges& changes) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < whole.parameters.size(); ++i)
    if (std::ranges::find(changes, whole.parameters[i], &ParameterInfo::key) == changes.end())
      kept.push_back(i);
  if (kept.empty()) return std::nullopt;
  Calibration calibration;
  for (const std::size_t row : kept) {
    calibration.parameters.push_back(whole.parameters[row]);
    for (const std::size_t column : kept)
      calibration.correlation.push_back(whole.correlation[row * whole.parameters.size() + column]);
  }
  return calibration;
}

std::string name_with(std::string_view base, const std::vector<std::string>& changes) {
  return changes.empty() ? std::string(base)
                         : fmt::format("{} ({})", base, fmt::join(changes, ", "));
}

/// "90 GB/s", from a value or an object with one.
std::string value_text(const input::Json& json) {
  const input::Json& value = json.is_object() && json.contains("value") ? json["value"] : json;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

void check_workgroups(const Chip& chip, const input::ObjectReader& reader) {
  const std::string_view missing = hardware::missing_of_workgroups(chip);
  if (missing.empty()) return;
  throw input::InputError(reader.pointer_to(missing),
                          "is missing, but other parameters of workgroups are given; give all of "
                          "them or none");
}

ChipChanges read_changes(input::ObjectReader& reader, Chip& chip) {
  std::vector<std::pair<const ParameterInfo*, Parameter>> read;  // applied after all are read
  for (const ParameterInfo& info : hardware::parameters()) {
    if (!reader.has(info.key)) continue;
    if (auto change = read_change(reader, chip, info)) read.emplace_back(&info, *std::move(change));
  }
  ChipChanges changes;
  std::vector<std::string> texts;
  for (auto& [info, change] : read) {
    changes.push_back(info);
    texts.push_back(fmt::format("{} {}", info->key, format_value(*info, change)));
    chip.*info->member = std::move(change);
  }
  check_workgroups(chip, reader);
  chip.name = name_with(chip.name, texts);
  if (chip.calibration && affect_times(changes))
    chip.calibration = calibration_without(*chip.calibration, changes);
  return changes;
}

void append_changes(input::Json& json, const Chip& chip, const ChipChanges& changes) {
  for (const ParameterInfo* info : changes) {
    const Parameter& parameter = chip.*info->member;
    const input::Json whole = parameter_json(*info, parameter);
    json[std::string(info->key)] = is_bare(parameter) ? whole["value"] : whole;
  }
}

std::string base_name(const input::Json& hardware) {
  if (hardware.is_string()) return hardware.get<std::string>();
  const std::string based_on(kBasedOn);
  if (!hardware.is_object() || !hardware.contains(based_on) || !hardware[based_on].is_string())
    return {};
  return hardware[based_on].get<std::string>();
}

std::string chip_text(const input::Json& hardware) {
  const std::string base = base_name(hardware);
  if (base.empty()) return "a chip";
  if (hardware.is_string()) return base;
  std::vector<std::string> changes;
  for (const auto& [key, value] : hardware.items())
    if (key != kBasedOn) changes.push_back(fmt::format("{} {}", key, value_text(value)));
  return name_with(base, changes);
}

input::Json changes_schema(input::Json (*parameter)(hardware::ParameterKind kind)) {
  static const input::Table<input::ReadElsewhere> table{
      {kBasedOn, input::Elsewhere{input::Text{}}, "built-in chip or path of a hardware file",
       input::kRequired},
  };
  input::Json schema = table.schema();
  for (const ParameterInfo& info : hardware::parameters()) {
    input::Json& key = schema["properties"][std::string(info.key)];
    key = parameter(info.kind);
    key[std::string(input::kShownAs)] = "*";
    input::describe(key,
                    "any parameter ([hardware.md](hardware.md#parameters)): a value (class "
                    "`assumed`), or an object with `value`, `class` and `source`",
                    input::otherwise("from `based_on`"), {});
  }
  return schema;
}

}  // namespace equarx::config
