// Escaping for HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace equarx::topology {

/// Escapes text for XML content and attributes; control characters, which XML forbids, become "?".
std::string escaped_for_markup(std::string_view text);

}  // namespace equarx::topology
