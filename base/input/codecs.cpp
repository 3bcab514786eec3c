#include "base/input/codecs.hpp"

#include <fmt/format.h>

#include "base/input/errors.hpp"

namespace equarx::input {

Json enum_schema(std::span<const std::string_view> names) {
  Json list = Json::array();
  for (const std::string_view name : names) list.push_back(name);
  return {{"enum", list}};
}

Json schema_of(std::string_view text) { return Json::parse(text); }

Json one_of(std::initializer_list<Json> schemas) {
  Json list = Json::array();
  for (const Json& schema : schemas) list.push_back(schema);
  return {{"oneOf", list}};
}

void Flag::read(ObjectReader& reader, std::string_view key, bool& flag) const {
  const Json& value = reader.required(key, "true or false");
  if (!value.is_boolean())
    throw InputError(reader.pointer_to(key),
                     fmt::format("expected true or false, found {}", kind_of(value)));
  flag = value.get<bool>();
}

void Switch::read(ObjectReader& reader, std::string_view key, bool& flag) const {
  flag = reader.choice(key, names) == 1;
}

void Positive::read(ObjectReader& reader, std::string_view key, double& number) const {
  number = reader.positive_number(key);
}

Json Positive::schema() const { return {{"type", "number"}, {"exclusiveMinimum", 0}}; }

void Share::read(ObjectReader& reader, std::string_view key, double& number) const {
  number = reader.share(key);
}

void Number::read(ObjectReader& reader, std::string_view key, double& number) const {
  number = reader.number(key);
}

void Quantity::read(ObjectReader& reader, std::string_view key, double& value) const {
  value = reader.quantity(key, dimension);
  if (sign == Sign::not_negative && value < 0.0)
    throw InputError(reader.pointer_to(key), "must not be negative");
  if (sign == Sign::positive && value <= 0.0)
    throw InputError(reader.pointer_to(key), "must be above 0");
}

Json Quantity::schema() const {
  if (dimension == units::Dimension::bytes) return {{"type", {"string", "integer"}}};
  return {{"type", "string"}};
}

void Text::read(ObjectReader& reader, std::string_view key, std::string& text) const {
  text = reader.text(key, expected);
}

void Texts::read(ObjectReader& reader, std::string_view key,
                 std::vector<std::string>& texts) const {
  const Json& list = reader.array(key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string())
      throw InputError(reader.pointer_to(key, i), fmt::format("expected {}", expected));
    texts.push_back(list[i].get<std::string>());
  }
}

}  // namespace equarx::input
