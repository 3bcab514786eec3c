#include "experiments/hardware_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config_json.hpp"
#include "experiments/embedded.hpp"
#include "experiments/input_error.hpp"
#include "experiments/nearest.hpp"
#include "topologies/grid.hpp"

namespace equarx::experiments {
namespace {

constexpr std::array<std::string_view, 4> kProvenances = {"datasheet", "measured", "calibrated",
                                                          "assumed"};

double read_ratio(ObjectReader& reader) {
  const Json& value = reader.required("value", "a number above 0 and up to 1");
  if (!value.is_number() || value.get<double>() <= 0.0 || value.get<double>() > 1.0)
    throw InputError(reader.place_of("value"),
                     fmt::format("{} is not a number above 0 and up to 1", value.dump()));
  return value.get<double>();
}

double read_value(ObjectReader& reader, const hardware::ParameterInfo& info) {
  constexpr std::uint64_t kMostCount = 1 << 20;
  switch (info.kind) {
    case hardware::ParameterKind::quantity: return reader.quantity("value", info.dimension);
    case hardware::ParameterKind::ratio: return read_ratio(reader);
    case hardware::ParameterKind::count:
      return static_cast<double>(reader.integer("value", 1, kMostCount));
  }
  throw std::logic_error("unknown kind of parameter");
}

hardware::Parameter read_parameter(ObjectReader reader, const hardware::ParameterInfo& info) {
  hardware::Parameter parameter;
  parameter.value = read_value(reader, info);
  if (parameter.value < 0.0 || (parameter.value == 0.0 && !info.may_be_zero))
    throw InputError(
        reader.place_of("value"),
        fmt::format("{} must {}", info.key, info.may_be_zero ? "not be negative" : "be above 0"));
  parameter.provenance = static_cast<hardware::Provenance>(reader.choice("class", kProvenances));
  parameter.source = reader.text("source");
  reader.finish();
  return parameter;
}

std::vector<std::vector<std::uint32_t>> read_slices(ObjectReader& reader) {
  std::vector<std::vector<std::uint32_t>> slices;
  const Json& names = reader.array("slices");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string place = fmt::format("{}/{}", reader.place_of("slices"), i);
    if (!names[i].is_string()) throw InputError(place, "expected a slice such as \"4x4\"");
    try {
      slices.push_back(topology::parse_lengths(names[i].get<std::string>()));
    } catch (const std::invalid_argument& error) {
      throw InputError(place, error.what());
    }
  }
  return slices;
}

Json value_json(const hardware::ParameterInfo& info, const hardware::Parameter& parameter) {
  switch (info.kind) {
    case hardware::ParameterKind::quantity: return format_value(info, parameter);
    case hardware::ParameterKind::ratio: return parameter.value;
    case hardware::ParameterKind::count: return static_cast<std::uint64_t>(parameter.value);
  }
  throw std::logic_error("unknown kind of parameter");
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

}  // namespace

hardware::Chip read_chip(const Json& json) {
  ObjectReader reader(json, "");
  hardware::Chip chip;
  chip.name = reader.text("name");
  chip.description = reader.text("description");
  ObjectReader parameters = reader.object("parameters");
  for (const hardware::ParameterInfo& info : hardware::parameters())
    chip.*info.member = read_parameter(parameters.object(info.key), info);
  parameters.finish();
  chip.slices = read_slices(reader);
  chip.wraparound_length = static_cast<std::uint32_t>(
      reader.integer("wraparound_length", 0, std::numeric_limits<std::uint32_t>::max()));
  reader.finish();
  return chip;
}

hardware::Chip load_chip(const std::string& name_or_path, const std::string& place) {
  if (is_path(name_or_path)) {
    try {
      return read_chip(parse_json(read_file(name_or_path)));
    } catch (const InputError& error) {
      throw InputError(place, fmt::format("in {}: {}", name_or_path, error.what()));
    }
  }
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_hardware()) {
    if (file.name == name_or_path) return read_chip(parse_json(file.text));
    names.push_back(file.name);
  }
  throw InputError(place, fmt::format("'{}' is not a known chip; use one of {}, or the path of a "
                                      "hardware file",
                                      name_or_path, list_of(names)));
}

Json parameters_json(const hardware::Chip& chip) {
  Json json = Json::object();
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    const hardware::Parameter& parameter = chip.*info.member;
    json[std::string(info.key)] = {{"value", value_json(info, parameter)},
                                   {"class", hardware::name(parameter.provenance)},
                                   {"source", parameter.source}};
  }
  return json;
}

}  // namespace equarx::experiments
