// A JSON value as a member of types whose headers do not include the JSON library.
#pragma once

#include <memory>

#include "base/input/object_reader.hpp"

namespace equarx::input {

/// Owns a JSON value with value semantics. Initially null.
class JsonValue {
 public:
  JsonValue();
  JsonValue(Json value);  // NOLINT(google-explicit-constructor): a transparent wrapper
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(JsonValue other) noexcept;
  ~JsonValue();

  const Json& get() const { return *value_; }
  Json& get() { return *value_; }
  operator const Json&() const { return *value_; }  // NOLINT(google-explicit-constructor)

  const Json& operator*() const { return *value_; }
  Json& operator*() { return *value_; }
  const Json* operator->() const { return value_.get(); }
  Json* operator->() { return value_.get(); }

  /// True if both are the same JSON, with keys in the same order.
  bool operator==(const JsonValue& other) const;
  bool operator==(const Json& other) const;

 private:
  std::unique_ptr<Json> value_;
};

}  // namespace equarx::input
