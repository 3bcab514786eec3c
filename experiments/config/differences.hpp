// Differences between two configurations.
#pragma once

#include <string>
#include <vector>

#include "base/input/json_value.hpp"

namespace equarx::config {

/// A value that differs between two configurations.
struct Difference {
  std::string pointer;  ///< JSON pointer; collectives appear under their labels
  input::JsonValue a;   ///< null if present only in the other
  input::JsonValue b;   ///< likewise
};

/// All leaf values of a configuration by JSON pointer. Collectives appear under their labels, so
/// that a pointer does not depend on their order. JSON that is not a configuration is flattened as
/// it stands.
input::Json flat(const input::Json& config);

/// In the order of `a`, followed by values present only in `b`.
std::vector<Difference> differences(const input::Json& a, const input::Json& b);

}  // namespace equarx::config
