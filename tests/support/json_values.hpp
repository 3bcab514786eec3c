// Comparison of JSON values as stored in headers.
#pragma once

#include <initializer_list>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/json_value.hpp"

namespace equarx::testing {

/// Boxes each value separately.
inline std::vector<input::JsonValue> boxed(std::initializer_list<input::Json> values) {
  return {values.begin(), values.end()};
}

}  // namespace equarx::testing
