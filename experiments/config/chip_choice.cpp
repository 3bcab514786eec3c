#include "experiments/config/chip_choice.hpp"

#include <stdexcept>

#include "base/input/codecs.hpp"
#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/parameter_json.hpp"

namespace equarx::config {
namespace {

constexpr std::string_view kHardware = "hardware";

}  // namespace

ChipChoice read_chip_choice(input::ObjectReader& config) {
  constexpr std::string_view kExpected =
      "a chip's name, the path of a hardware file, or an object like {\"based_on\": \"tpu-v5e\", "
      "\"link_bandwidth\": \"90 GB/s\"}";
  const input::Json& json = config.required(kHardware, kExpected);
  ChipChoice choice;
  if (!json.is_object()) {
    const std::string name = config.text(kHardware, kExpected);
    choice.chip = load_chip(name, config.pointer_to(kHardware));
    choice.based_on = chip_name(name);
    return choice;
  }
  input::ObjectReader reader = config.object(kHardware);
  const std::string name = reader.text(kBasedOn, "a chip's name, or the path of a hardware file");
  choice.chip = load_chip(name, reader.pointer_to(kBasedOn));
  choice.based_on = chip_name(name);
  choice.changes = read_changes(reader, choice.chip);
  reader.finish();
  return choice;
}

input::Json chip_choice_json(const ChipChoice& choice) {
  if (choice.changes.empty()) return choice.based_on;
  input::Json json = {{std::string(kBasedOn), choice.based_on}};
  append_changes(json, choice.chip, choice.changes);
  return json;
}

namespace {

/// A value, or an object as in a hardware file, which has a schema of its own.
input::Json changed_value_schema(hardware::ParameterKind kind) {
  switch (kind) {
    case hardware::ParameterKind::quantity: return {{"type", {"string", "object"}}};
    case hardware::ParameterKind::ratio:
      return {{"type", {"number", "object"}}, {"minimum", input::kLeastShare}, {"maximum", 1}};
    case hardware::ParameterKind::count:
      return {{"type", {"integer", "object"}}, {"minimum", 1}, {"maximum", kMostCount}};
  }
  throw std::logic_error("unknown kind of parameter");
}

}  // namespace

input::Json chip_choice_schema() {
  return input::one_of({input::Text{}.schema(), changes_schema(changed_value_schema)});
}

}  // namespace equarx::config
