// JSON values as headers hold them, for comparing.
#pragma once

#include <initializer_list>
#include <vector>

#include "experiments/input/json.hpp"
#include "experiments/input/json_value.hpp"

namespace equarx::testing {

/// Each value in a box of its own.
inline std::vector<input::JsonValue> boxed(std::initializer_list<input::Json> values) {
  return {values.begin(), values.end()};
}

}  // namespace equarx::testing
