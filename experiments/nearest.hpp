#pragma once

#include <span>
#include <string>
#include <string_view>

namespace equarx::experiments {

/// The candidate with the smallest edit distance to `text`; the first of several. Empty if there is none.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

/// "a, b, c"
std::string list_of(std::span<const std::string_view> names);

}  // namespace equarx::experiments
