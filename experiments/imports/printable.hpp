// Text of others' files that people are shown.
#pragma once

#include <string>
#include <string_view>

#include "models/os/printable.hpp"

namespace equarx::imports {

/// The text without what would do something to a terminal.
inline std::string printable(std::string_view text) { return os::printable(text); }

}  // namespace equarx::imports
