// Includes the JSON library, for source files; headers need only its forward declarations
// (object_reader.hpp).
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "base/input/object_reader.hpp"

namespace equarx::input {

/// The value, or null for std::nullopt.
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace equarx::input
