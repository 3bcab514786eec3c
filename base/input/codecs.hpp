// Values of keys: how each kind is read, written, and described by JSON Schema.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/enum_names.hpp"
#include "base/input/fields.hpp"
#include "base/input/object_reader.hpp"
#include "base/units/quantity.hpp"

namespace equarx::input {

/// {"enum": [...]}
Json enum_schema(std::span<const std::string_view> names);

/// The JSON text as a schema, for values that no codec describes.
Json schema_of(std::string_view text);

/// {"oneOf": [...]}: alternative forms of a value.
Json one_of(std::initializer_list<Json> schemas);

/// An integer from `least` to `most`.
struct Integer {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::int64_t>::max();

  template <typename Number>
  void read(ObjectReader& reader, std::string_view key, Number& number) const {
    number = static_cast<Number>(reader.integer(key, least, most));
  }
  Json write(std::uint64_t number) const { return number; }
  Json schema() const { return {{"type", "integer"}, {"minimum", least}, {"maximum", most}}; }
};

/// true or false.
struct Flag {
  void read(ObjectReader& reader, std::string_view key, bool& flag) const;
  Json write(bool flag) const { return flag; }
  Json schema() const { return {{"type", "boolean"}}; }
};

/// A boolean with two names: the first for false.
struct Switch {
  std::array<std::string_view, 2> names;

  void read(ObjectReader& reader, std::string_view key, bool& flag) const;
  Json write(bool flag) const { return names[flag ? 1 : 0]; }
  Json schema() const { return enum_schema(names); }
};

/// A number above 0.
struct Positive {
  void read(ObjectReader& reader, std::string_view key, double& number) const;
  Json write(double number) const { return number; }
  Json schema() const;
};

/// A number from kLeastShare to 1.
struct Share {
  void read(ObjectReader& reader, std::string_view key, double& number) const;
  Json write(double number) const { return number; }
  Json schema() const { return {{"type", "number"}, {"minimum", kLeastShare}, {"maximum", 1}}; }
};

/// A plain number.
struct Number {
  void read(ObjectReader& reader, std::string_view key, double& number) const;
  Json write(double number) const { return number; }
  Json schema() const { return {{"type", "number"}}; }
};

/// Lower limit of a quantity.
enum class Sign : std::uint8_t { any, not_negative, positive };

/// A quantity with its unit.
struct Quantity {
  units::Dimension dimension;
  Sign sign = Sign::any;

  void read(ObjectReader& reader, std::string_view key, double& value) const;
  Json write(double value) const { return units::format(value, dimension); }
  Json schema() const;
};

/// Any text. `expected`: more specific than "a string", for messages.
struct Text {
  std::string_view expected = "a string";

  void read(ObjectReader& reader, std::string_view key, std::string& text) const;
  Json write(const std::string& text) const { return text; }
  Json schema() const { return {{"type", "string"}}; }
};

/// A list of texts. `expected`: one of them, for messages.
struct Texts {
  std::string_view expected;

  void read(ObjectReader& reader, std::string_view key, std::vector<std::string>& texts) const;
  Json write(const std::vector<std::string>& texts) const { return texts; }
  Json schema() const { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }
};

/// A value of an enumeration, by name.
template <typename Enum, std::size_t N>
struct OneOf {
  EnumNames<Enum, N> names;

  void read(ObjectReader& reader, std::string_view key, Enum& value) const {
    value = reader.choice(key, names);
  }
  Json write(Enum value) const { return names[value]; }
  Json schema() const { return enum_schema(names.all()); }
};
/// Deduction from the arguments.
template <typename Enum, std::size_t N>
OneOf(EnumNames<Enum, N>) -> OneOf<Enum, N>;

/// One of some values of an enumeration with a name() function.
template <typename Enum, std::size_t N>
struct Named {
  std::array<Enum, N> values;

  std::array<std::string_view, N> names() const {
    std::array<std::string_view, N> all;
    std::ranges::transform(values, all.begin(), [](Enum value) { return name(value); });
    return all;
  }
  void read(ObjectReader& reader, std::string_view key, Enum& value) const {
    value = values[reader.choice(key, names())];
  }
  Json write(Enum value) const { return name(value); }
  Json schema() const { return enum_schema(names()); }
};
/// Deduction from the arguments.
template <typename Enum, std::size_t N>
Named(std::array<Enum, N>) -> Named<Enum, N>;

/// An object with a table of its own.
template <typename Object>
struct Nested {
  const Table<Object>& (*table)();

  void read(ObjectReader& reader, std::string_view key, Object& object) const {
    ObjectReader nested = reader.object(key);
    table().read(nested, object);
    nested.finish();
  }
  Json write(const Object& object) const { return table().write(object); }
  Json schema(const Object& defaults = {}) const { return table().schema(defaults); }
};
/// Deduction from the arguments.
template <typename Object>
Nested(const Table<Object>& (*)()) -> Nested<Object>;

/// A list of objects with one table.
template <typename Object>
struct Objects {
  const Table<Object>& (*table)();
  std::size_t least = 0;  ///< for the schema only: messages about an empty list name the remedy

  void read(ObjectReader& reader, std::string_view key, std::vector<Object>& objects) const {
    const Json& list = reader.array(key);
    for (std::size_t i = 0; i < list.size(); ++i)
      objects.push_back(table().read_all(ObjectReader(list[i], reader.pointer_to(key, i))));
  }
  Json write(const std::vector<Object>& objects) const {
    Json list = Json::array();
    for (const Object& object : objects) list.push_back(table().write(object));
    return list;
  }
  Json schema() const {
    Json schema = {{"type", "array"}};
    if (least > 0) schema["minItems"] = least;
    schema["items"] = table().schema();
    return schema;
  }
};
/// Deduction from the arguments.
template <typename Object>
Objects(const Table<Object>& (*)()) -> Objects<Object>;
/// Deduction from the arguments.
template <typename Object>
Objects(const Table<Object>& (*)(), std::size_t) -> Objects<Object>;

}  // namespace equarx::input
