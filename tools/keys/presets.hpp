// Table of the presets of arithmetic, in docs/numerics.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace equarx::keys {

/// The comment above the table.
inline constexpr std::string_view kPresets = "<!-- presets of arithmetic -->";

/// A line for each preset: name, algorithms, sums, source.
std::vector<std::string> preset_lines();

}  // namespace equarx::keys
