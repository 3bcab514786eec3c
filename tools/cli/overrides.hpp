// The options --set and --unset.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Returns the JSON pointer of "pointer=value". @throws input::InputError
std::string pointer_of_override(const std::string& text);

/// Removes the unset keys from a configuration, then sets values, each in the given order. @throws
/// input::InputError if a key to remove is not set, or if a value is null
void apply_overrides(input::Json& config, const Overrides& overrides);

}  // namespace equarx::cli
