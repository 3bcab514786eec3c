#include "experiments/config/hardware_json.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config/json.hpp"
#include "experiments/config/slices_json.hpp"
#include "experiments/input/embedded.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/nearest.hpp"

namespace equarx::config {
namespace {

double read_ratio(input::ObjectReader& reader) {
  const input::Json& value = reader.required("value", "a number above 0 and up to 1");
  if (!value.is_number() || value.get<double>() <= 0.0 || value.get<double>() > 1.0)
    throw input::InputError(reader.place_of("value"),
                            fmt::format("{} is not a number above 0 and up to 1", value.dump()));
  return value.get<double>();
}

double read_value(input::ObjectReader& reader, const hardware::ParameterInfo& info) {
  constexpr std::uint64_t kMostCount = 1 << 20;
  switch (info.kind) {
    case hardware::ParameterKind::quantity: return reader.quantity("value", info.dimension);
    case hardware::ParameterKind::ratio: return read_ratio(reader);
    case hardware::ParameterKind::count:
      return static_cast<double>(reader.integer("value", 1, kMostCount));
  }
  throw std::logic_error("unknown kind of parameter");
}

hardware::Parameter read_parameter(input::ObjectReader reader,
                                   const hardware::ParameterInfo& info) {
  hardware::Parameter parameter;
  parameter.value = read_value(reader, info);
  if (parameter.value < 0.0 || (parameter.value == 0.0 && !info.may_be_zero))
    throw input::InputError(
        reader.place_of("value"),
        fmt::format("{} must {}", info.key, info.may_be_zero ? "not be negative" : "be above 0"));
  parameter.provenance = read_provenance(reader);
  parameter.source = reader.text("source");
  reader.finish();
  return parameter;
}

input::Json value_json(const hardware::ParameterInfo& info, const hardware::Parameter& parameter) {
  switch (info.kind) {
    case hardware::ParameterKind::quantity: return format_value(info, parameter);
    case hardware::ParameterKind::ratio: return parameter.value;
    case hardware::ParameterKind::count: return static_cast<std::uint64_t>(parameter.value);
  }
  throw std::logic_error("unknown kind of parameter");
}

}  // namespace

hardware::Provenance read_provenance(input::ObjectReader& reader) {
  static constexpr std::array kProvenances = {
      hardware::Provenance::datasheet, hardware::Provenance::measured,
      hardware::Provenance::calibrated, hardware::Provenance::assumed};
  std::array<std::string_view, kProvenances.size()> names;
  std::ranges::transform(kProvenances, names.begin(),
                         [](hardware::Provenance provenance) { return name(provenance); });
  return kProvenances[reader.choice("class", names)];
}

hardware::Chip read_chip(const input::Json& json) {
  input::ObjectReader reader(json, "");
  hardware::Chip chip;
  chip.name = reader.text("name");
  chip.description = reader.text("description");
  input::ObjectReader parameters = reader.object("parameters");
  for (const hardware::ParameterInfo& info : hardware::parameters())
    chip.*info.member = read_parameter(parameters.object(info.key), info);
  parameters.finish();
  chip.slices = read_slices(reader.object("slices"));
  reader.finish();
  return chip;
}

hardware::Chip load_chip(const std::string& name_or_path, const std::string& place) {
  if (input::is_path(name_or_path)) {
    try {
      return read_chip(input::parse_json(input::read_file(name_or_path)));
    } catch (const input::InputError& error) {
      throw input::InputError(place, fmt::format("in {}: {}", name_or_path, error.what()));
    }
  }
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    if (file.name == name_or_path) return read_chip(input::parse_json(file.text));
    names.push_back(file.name);
  }
  throw input::InputError(place,
                          fmt::format("'{}' is not a known chip; use one of {}, or the path of a "
                                      "hardware file",
                                      name_or_path, input::list_of(names)));
}

input::Json parameters_json(const hardware::Chip& chip) {
  input::Json json = input::Json::object();
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    const hardware::Parameter& parameter = chip.*info.member;
    json[std::string(info.key)] = {{"value", value_json(info, parameter)},
                                   {"class", hardware::name(parameter.provenance)},
                                   {"source", parameter.source}};
  }
  return json;
}

input::Json to_json(const hardware::Chip& chip) {
  return {{"name", chip.name},
          {"description", chip.description},
          {"parameters", parameters_json(chip)},
          {"slices", slices_json(chip.slices)}};
}

}  // namespace equarx::config
