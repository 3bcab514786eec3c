#include "experiments/config/hardware_json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/calibration_json.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/config/matrix_products_json.hpp"
#include "experiments/config/parameter_json.hpp"
#include "experiments/config/slices_json.hpp"
#include "experiments/input/embedded.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/nearest.hpp"
#include "experiments/input/shelf.hpp"

namespace equarx::config {
namespace {

constexpr std::array<std::string_view, 4> kParts = {"name", "description", "parameters", "slices"};

/// Names all that is missing at once, where it is so much that the file may rather want to change another chip.
void check_complete(const input::Json& json) {
  std::vector<std::string> missing;
  for (const std::string_view part : kParts)
    if (!json.contains(std::string(part))) missing.push_back(fmt::format("/{}", part));
  if (json.contains("parameters") && json["parameters"].is_object())
    for (const hardware::ParameterInfo& info : hardware::parameters())
      if (!info.may_be_absent && !json["parameters"].contains(std::string(info.key)))
        missing.push_back(fmt::format("/parameters/{}", info.key));
  if (missing.size() < 2) return;
  throw input::InputError(
      "", fmt::format("{} parts are missing: {}; give them, or say by \"{}\" which chip has them",
                      missing.size(), fmt::join(missing, ", "), kBasedOn));
}

/// Every point of a sweep asks for its chip, and reading one takes longer than reading the rest of an experiment does,
/// so each is read once.
const hardware::Chip& built_in_chip(const input::EmbeddedFile& file) {
  static input::Shelf<hardware::Chip> shelf;
  return shelf.get(file.name,
                   [&](hardware::Chip& chip) { chip = read_chip(input::parse_json(file.text)); });
}

using Files = std::vector<std::filesystem::path>;

hardware::Chip load(const std::string& name_or_path, const std::string& place,
                    const Files& origins);

/// What a file says that changes another chip. `origins`: the files that led to this one, and it.
hardware::Chip read_changed_chip(const input::Json& json, const Files& origins) {
  input::ObjectReader reader(json, "");
  std::string base = reader.text(kBasedOn);
  if (input::is_path(base)) base = (origins.back().parent_path() / base).string();
  hardware::Chip chip = load(base, reader.place_of(kBasedOn), origins);
  read_changes(reader, chip);
  if (reader.has("name")) chip.name = reader.text("name");
  if (reader.has("description")) chip.description = reader.text("description");
  reader.finish();
  return chip;
}

hardware::Chip read_text(const std::string& text, const std::string& path, Files origins) {
  origins.push_back(std::filesystem::path(path).lexically_normal());
  if (std::ranges::find(origins, origins.back()) != origins.end() - 1)
    throw input::InputError("", "is based on itself; name another chip");
  const input::Json json = input::parse_json(text);
  const bool is_change = json.is_object() && json.contains(std::string(kBasedOn));
  return is_change ? read_changed_chip(json, origins) : read_chip(json);
}

hardware::Chip load(const std::string& name_or_path, const std::string& place,
                    const Files& origins) {
  if (input::is_path(name_or_path))
    return input::read_named_file(name_or_path, place, [&](const std::string& text) {
      return read_text(text, name_or_path, origins);
    });
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    if (file.name == name_or_path) return built_in_chip(file);
    names.push_back(file.name);
  }
  throw input::InputError(place,
                          fmt::format("'{}' is not a known chip; use one of {}, or the path of a "
                                      "hardware file",
                                      name_or_path, input::list_of(names)));
}

}  // namespace

hardware::Chip read_chip(const input::Json& json) {
  input::ObjectReader reader(json, "");
  check_complete(json);
  hardware::Chip chip;
  chip.name = reader.text("name");
  chip.description = reader.text("description");
  input::ObjectReader parameters = reader.object("parameters");
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (!info.may_be_absent || parameters.has(info.key))
      chip.*info.member = read_parameter(parameters.object(info.key), info);
  parameters.finish();
  chip.slices = read_slices(reader.object("slices"));
  if (reader.has("matrix_products"))
    chip.matrix_products = read_matrix_products(reader.object("matrix_products"));
  if (reader.has("calibration"))
    chip.calibration = read_calibration(reader.object("calibration"), chip);
  reader.finish();
  return chip;
}

hardware::Chip load_chip(const std::string& name_or_path, const std::string& place) {
  return load(name_or_path, place, {});
}

input::Json parameters_json(const hardware::Chip& chip) {
  input::Json json = input::Json::object();
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (!hardware::is_absent(chip, info))
      json[std::string(info.key)] = parameter_json(info, chip.*info.member);
  return json;
}

input::Json to_json(const hardware::Chip& chip) {
  input::Json json = {{"name", chip.name},
                      {"description", chip.description},
                      {"parameters", parameters_json(chip)},
                      {"slices", slices_json(chip.slices)}};
  if (!chip.matrix_products.points.empty())
    json["matrix_products"] = matrix_products_json(chip.matrix_products);
  if (chip.calibration) json["calibration"] = calibration_json(*chip.calibration);
  return json;
}

}  // namespace equarx::config
