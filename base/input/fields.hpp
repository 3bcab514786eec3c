// Objects of a configuration as tables: each key once, with its member, values, default and
// meaning. Reader, writer, JSON Schema and the tables of docs/ follow from them.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/object_reader.hpp"

namespace equarx::input {

/// Annotations of schemas for the pages and for shared definitions; the published files have none.
/// @{
inline constexpr std::string_view kDefinition = "x-definition";  ///< name of a shared definition
inline constexpr std::string_view kDefaultWords = "x-default";   ///< default in words, in Markdown
inline constexpr std::string_view kShownAs = "x-shown-as";       ///< key on the page, if different
inline constexpr std::string_view kMeaning = "x-meaning";  ///< meaning on the page, if different
inline constexpr std::string_view kUnit = "x-unit";        ///< unit of a parameter
/// @}

/// Whether a key may be absent, and its default then.
struct Presence {
  bool is_required = false;
  std::string_view words = {};  ///< default in words, in Markdown, if it is not one value
  std::string_view json = {};   ///< default as JSON text, if it is not the member's
};

/// A key that must be present.
inline constexpr Presence kRequired{.is_required = true};

/// An optional key whose default needs words.
constexpr Presence otherwise(std::string_view words) { return {.words = words}; }

/// An optional key with this default, as JSON text.
constexpr Presence by_default(std::string_view json) { return {.json = json}; }

/// Adds meaning and default of a key to the schema of its values. `fallback`: the default, if it is
/// a value.
void describe(Json& schema, std::string_view meaning, const Presence& presence,
              const std::optional<Json>& fallback);

/// A key that other code reads and writes: for the schema and the pages only.
class Elsewhere {
 public:
  /// `schema`: of the values, as JSON text.
  explicit Elsewhere(std::string_view schema);
  /// The values of a codec.
  template <typename Codec>
  requires requires(const Codec codec) { codec.schema(); }
  explicit Elsewhere(Codec codec) : schema_([codec] { return codec.schema(); }) {}
  /// A function that returns the schema of the values.
  template <std::invocable Schema>
  explicit Elsewhere(Schema schema) : schema_(schema) {}

  /// Schema of the values.
  Json schema() const { return schema_(); }

 private:
  std::function<Json()> schema_;
};

/// True for members that may have no value.
template <typename T>
inline constexpr bool kIsOptional = false;
/// True for std::optional.
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// One key of an object. A codec has read(reader, key, member), write(member) and schema().
template <typename Object>
class Field {
 public:
  /// A key of a member; `get` is a pointer to it, or a function that returns a reference to it. An
  /// absent key keeps the member; a member without a value is not written.
  template <typename Get, typename Codec>
  requires std::invocable<Get, Object&> Field(std::string_view key, Get get, Codec codec,
                                              std::string_view meaning, Presence presence = {})
      : key_(key), is_required_(presence.is_required) {
    read_ = [=](ObjectReader& reader, Object& object) {
      if (presence.is_required || reader.has(key))
        read_member(codec, reader, key, std::invoke(get, object));
    };
    write_ = [=](const Object& object, Json& json) {
      write_member(codec, std::invoke(get, object), key, json);
    };
    schema_ = [=](const Object& defaults) {
      Json schema = member_schema(codec, std::invoke(get, defaults));
      Json written = Json::object();
      if (!presence.is_required) write_member(codec, std::invoke(get, defaults), key, written);
      describe(schema, meaning, presence, plain_value(written, key));
      return schema;
    };
  }

  /// A key of several members. The codec has read(reader, key, object), also for an absent key,
  /// and write(object, key, json).
  template <typename Codec>
  requires requires(const Codec codec, const Object object, Json json) {
    codec.write(object, std::string_view(), json);
  }
  Field(std::string_view key, Codec codec, std::string_view meaning, Presence presence = {})
      : key_(key), is_required_(presence.is_required) {
    read_ = [=](ObjectReader& reader, Object& object) { codec.read(reader, key, object); };
    write_ = [=](const Object& object, Json& json) { codec.write(object, key, json); };
    schema_ = described(codec, meaning, presence);
  }

  /// A key that other code reads and writes.
  Field(std::string_view key, const Elsewhere& elsewhere, std::string_view meaning,
        Presence presence = {})
      : key_(key),
        is_required_(presence.is_required),
        read_([](ObjectReader&, Object&) {}),
        write_([](const Object&, Json&) {}),
        schema_(described(elsewhere, meaning, presence)) {}

  /// The key; "*" for any.
  std::string_view key() const { return key_; }
  /// True if the key must be present.
  bool is_required() const { return is_required_; }

  /// Reads the member. @throws InputError
  void read(ObjectReader& reader, Object& object) const { read_(reader, object); }
  /// Adds the key to `json`, if the member has a value.
  void write(const Object& object, Json& json) const { write_(object, json); }
  /// Schema of the values, with meaning and default.
  Json schema(const Object& defaults) const { return schema_(defaults); }

 private:
  template <typename Codec, typename Member>
  static void read_member(const Codec& codec, ObjectReader& reader, std::string_view key,
                          Member& member) {
    if constexpr (kIsOptional<Member>) {
      codec.read(reader, key, member.emplace());
    } else {
      codec.read(reader, key, member);
    }
  }

  template <typename Codec, typename Member>
  static void write_member(const Codec& codec, const Member& member, std::string_view key,
                           Json& json) {
    if constexpr (kIsOptional<Member>) {
      if (member) json[std::string(key)] = codec.write(*member);
    } else {
      json[std::string(key)] = codec.write(member);
    }
  }

  /// Objects have the defaults of the member.
  template <typename Codec, typename Member>
  static Json member_schema(const Codec& codec, const Member& defaults) {
    if constexpr (requires { codec.schema(defaults); })
      return codec.schema(defaults);
    else
      return codec.schema();
  }

  /// The default of a key, unless it is an object or a list, whose parts have defaults of their own.
  static std::optional<Json> plain_value(const Json& written, std::string_view key) {
    const auto found = written.find(std::string(key));
    if (found == written.end() || found->is_structured()) return std::nullopt;
    return *found;
  }

  template <typename Codec>
  static std::function<Json(const Object&)> described(const Codec& codec, std::string_view meaning,
                                                      const Presence& presence) {
    return [=](const Object&) {
      Json schema = codec.schema();
      describe(schema, meaning, presence, std::nullopt);
      return schema;
    };
  }

  std::string_view key_;
  bool is_required_;
  std::function<void(ObjectReader&, Object&)> read_;
  std::function<void(const Object&, Json&)> write_;
  std::function<Json(const Object&)> schema_;
};

/// Properties of an object's schema apart from its keys.
struct TableTraits {
  std::string_view definition = {};  ///< name, if several objects share the table
  std::string_view rules = {};       ///< keywords between keys, as JSON text: {"oneOf": [...]}
  std::string_view shown_as = {};    ///< key of the object on the page, if it stands for several
};

/// Assembles the schema of an object from its keys. `properties`: schemas by key.
Json object_schema(const Json& properties, const std::vector<std::string_view>& required,
                   const TableTraits& traits);

/// The schema of an object with the keys of all of these, and the other properties of the first.
Json joined(const std::vector<Json>& schemas);

/// For tables of keys that other code reads.
struct ReadElsewhere {};

/// All keys of an object, in the order in which they are read and written.
template <typename Object>
class Table {
 public:
  /// A table of `fields`, which have distinct keys.
  Table(std::initializer_list<Field<Object>> fields, TableTraits traits = {})
      : fields_(fields), traits_(traits) {}

  /// Reads all keys, but does not finish the reader. @throws InputError
  void read(ObjectReader& reader, Object& object) const {
    for (const Field<Object>& field : fields_) field.read(reader, object);
  }

  /// Reads a whole object, without other keys. @throws InputError
  Object read_all(ObjectReader reader) const {
    Object object{};
    read(reader, object);
    reader.finish();
    return object;
  }

  /// Adds all keys to `json`.
  void write(const Object& object, Json& json) const {
    for (const Field<Object>& field : fields_) field.write(object, json);
  }

  /// The object as JSON.
  Json write(const Object& object) const {
    Json json = Json::object();
    write(object, json);
    return json;
  }

  /// JSON Schema with annotations. `defaults`: has the defaults of the keys.
  Json schema(const Object& defaults = {}) const {
    Json properties = Json::object();
    std::vector<std::string_view> required;
    for (const Field<Object>& field : fields_) {
      properties[std::string(field.key())] = field.schema(defaults);
      if (field.is_required()) required.push_back(field.key());
    }
    return object_schema(properties, required, traits_);
  }

 private:
  std::vector<Field<Object>> fields_;
  TableTraits traits_;
};

/// Access to a member of a member, for a Field.
template <typename Outer, typename Inner>
auto in(Outer outer, Inner inner) {
  return [=](auto& object) -> auto& { return std::invoke(inner, std::invoke(outer, object)); };
}

}  // namespace equarx::input
