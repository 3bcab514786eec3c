// The option --set.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"

namespace equarx::cli {

/// Returns the JSON pointer of "pointer=value". @throws input::InputError
std::string pointer_of_override(const std::string& text);

/// Applies "pointer=value" to a configuration. @throws input::InputError
void apply_override(input::Json& config, const std::string& text);

}  // namespace equarx::cli
