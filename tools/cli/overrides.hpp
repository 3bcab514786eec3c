// What --set does.
#pragma once

#include <string>

#include "experiments/object_reader.hpp"

namespace equarx::cli {

/// Changes the configuration as `text`, "pointer=value", says. @throws experiments::InputError
void apply_override(experiments::Json& config, const std::string& text);

}  // namespace equarx::cli
