// Text of others' files that people are shown.
#pragma once

#include <algorithm>
#include <string>

#include "experiments/input/errors.hpp"

namespace equarx::imports {

/// The text without what would do something to a terminal.
inline std::string printable(std::string text) {
  std::ranges::replace_if(text, input::is_control, '?');
  return text;
}

}  // namespace equarx::imports
