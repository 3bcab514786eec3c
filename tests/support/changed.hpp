// Changed configurations.
#pragma once

#include <string>

#include "base/input/json.hpp"
#include "experiments/config/set_value.hpp"

namespace equarx::testing {

/// The configuration with the value at `pointer` set to `text`, as with `--set`.
inline input::Json changed(input::Json json, const std::string& pointer, const std::string& text) {
  config::override_value(json, pointer, text);
  return json;
}

}  // namespace equarx::testing
