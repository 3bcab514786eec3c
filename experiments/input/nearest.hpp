#pragma once

#include <span>
#include <string>
#include <string_view>

namespace equarx::input {

/// The candidate with the smallest edit distance to `text`; the first of several. Empty if there is none.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

/// Whether `text` is at most two letters away from `name`, which is a usual mistyping (two letters
/// exchanged count as two).
bool is_misspelt(std::string_view text, std::string_view name);

/// "a, b, c"
std::string list_of(std::span<const std::string_view> names);

}  // namespace equarx::input
