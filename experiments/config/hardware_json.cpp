#include "experiments/config/hardware_json.hpp"

#include <fmt/format.h>

#include "experiments/config/calibration_json.hpp"
#include "experiments/config/matrix_products_json.hpp"
#include "experiments/config/parameter_json.hpp"
#include "experiments/config/slices_json.hpp"
#include "experiments/input/embedded.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/nearest.hpp"

namespace equarx::config {
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
  if (reader.has("matrix_products"))
    chip.matrix_products = read_matrix_products(reader.object("matrix_products"));
  if (reader.has("calibration"))
    chip.calibration = read_calibration(reader.object("calibration"), chip);
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
  for (const hardware::ParameterInfo& info : hardware::parameters())
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
