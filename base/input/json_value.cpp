#include "base/input/json_value.hpp"

#include <utility>

#include "base/input/json.hpp"

namespace equarx::input {

JsonValue::JsonValue() : value_(std::make_unique<Json>()) {}
JsonValue::JsonValue(Json value) : value_(std::make_unique<Json>(std::move(value))) {}
JsonValue::JsonValue(const JsonValue& other) : value_(std::make_unique<Json>(*other.value_)) {}
// A moved-from value is null, not empty.
JsonValue::JsonValue(JsonValue&& other) noexcept : JsonValue() { std::swap(value_, other.value_); }
JsonValue& JsonValue::operator=(JsonValue other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
JsonValue::~JsonValue() = default;

bool JsonValue::operator==(const JsonValue& other) const { return *value_ == *other.value_; }
bool JsonValue::operator==(const Json& other) const { return *value_ == other; }

}  // namespace equarx::input
