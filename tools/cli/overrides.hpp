// What --set does.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"

namespace equarx::cli {

/// The JSON pointer of `text`, "pointer=value". @throws input::InputError
std::string pointer_of_override(const std::string& text);

/// Changes the configuration as `text`, "pointer=value", says. @throws input::InputError
void apply_override(input::Json& config, const std::string& text);

}  // namespace equarx::cli
