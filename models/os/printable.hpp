// Text of others that a terminal is shown.
#pragma once

#include <string>
#include <string_view>

namespace equarx::os {

/// The text without what would do something to a terminal instead of being shown: control characters (C0, DEL and
/// C1) and malformed UTF-8 become question marks.
std::string printable(std::string_view text);

/// The same of several lines: line feeds and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace equarx::os
