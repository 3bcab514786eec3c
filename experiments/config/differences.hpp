// In what two configurations differ.
#pragma once

#include <string>
#include <vector>

#include "experiments/input/json_value.hpp"

namespace equarx::config {

/// A value that two configurations do not have alike.
struct Difference {
  std::string pointer;  ///< JSON pointer, in which a collective is called by its label
  input::JsonValue a;   ///< null if only the other has it
  input::JsonValue b;   ///< likewise
};

/// Every number, text, yes and no of a configuration by its JSON pointer, in which a collective is called by
/// its label: so it is the same one wherever it stands in the list. What is no configuration is taken as it is.
input::Json flat(const input::Json& config);

/// In the order of `a`, then what `b` alone has.
std::vector<Difference> differences(const input::Json& a, const input::Json& b);

}  // namespace equarx::config
