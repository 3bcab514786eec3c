// Sanitizing of untrusted text for terminals.
#pragma once

#include <string>
#include <string_view>

namespace equarx::os {

/// Replaces control characters (C0, DEL and C1) and malformed UTF-8 by question marks.
std::string printable(std::string_view text);

/// Like printable(), but keeps line feeds and tabs.
std::string printable_lines(std::string_view text);

}  // namespace equarx::os
