// The JSON library, for source files. Headers get along with its declarations (object_reader.hpp).
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "experiments/input/object_reader.hpp"

namespace equarx::input {

/// A value, or null where there is none.
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace equarx::input
