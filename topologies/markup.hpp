// Texts within HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace equarx::topology {

/// A text that stays one within markup, also in attributes; control characters, which XML forbids, become "?".
std::string escaped_for_markup(std::string_view text);

}  // namespace equarx::topology
