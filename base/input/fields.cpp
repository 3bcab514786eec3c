#include "base/input/fields.hpp"

#include <cmath>

namespace equarx::input {
namespace {

/// Whole numbers without a decimal point: 4, not 4.0.
Json short_number(const Json& value) {
  constexpr double kExact = 1e15;
  if (!value.is_number_float()) return value;
  const double number = value.get<double>();
  if (number != std::floor(number) || std::abs(number) > kExact) return value;
  return static_cast<std::int64_t>(number);
}

Json parsed(std::string_view text) { return Json::parse(text); }

}  // namespace

void describe(Json& schema, std::string_view meaning, const Presence& presence,
              const std::optional<Json>& fallback) {
  if (!meaning.empty()) schema["description"] = meaning;
  if (!presence.words.empty()) {
    schema[std::string(kDefaultWords)] = presence.words;
  } else if (!presence.json.empty()) {
    schema["default"] = parsed(presence.json);
  } else if (fallback && !presence.is_required) {
    schema["default"] = short_number(*fallback);
  }
}

Elsewhere::Elsewhere(std::string_view schema) : schema_([schema] { return parsed(schema); }) {}

Json object_schema(const Json& properties, const std::vector<std::string_view>& required,
                   const TableTraits& traits) {
  Json schema = {{"type", "object"}};
  if (!traits.definition.empty()) schema[std::string(kDefinition)] = traits.definition;
  if (!traits.shown_as.empty()) schema[std::string(kShownAs)] = traits.shown_as;
  if (!required.empty()) schema["required"] = required;
  if (!traits.rules.empty()) schema.update(parsed(traits.rules));
  schema["additionalProperties"] = false;
  for (const auto& [key, values] : properties.items()) {
    if (key == "*")
      schema["additionalProperties"] = values;
    else
      schema["properties"][key] = values;
  }
  return schema;
}

Json joined(const std::vector<Json>& schemas) {
  Json whole = schemas.front();
  for (std::size_t i = 1; i < schemas.size(); ++i) {
    whole["properties"].update(schemas[i].at("properties"));
    for (const Json& key : schemas[i].value("required", Json::array()))
      whole["required"].push_back(key);
  }
  return whole;
}

}  // namespace equarx::input
