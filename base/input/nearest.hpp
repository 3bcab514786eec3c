// Suggestions for misspelt names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace equarx::input {

/// Returns the closest of `names`, the first in a tie; std::nullopt if none is close. A name is
/// close if it differs from `text` in case only, if one is a prefix of the other (three letters at
/// least), or if the edit distance is at most a third of the shorter length; a transposition counts
/// as one edit.
std::optional<std::string_view> near(std::string_view text,
                                     std::span<const std::string_view> names);

/// True if `text` is almost certainly a misspelling of `name`: different, but at most two edits
/// away.
bool is_misspelt(std::string_view text, std::string_view name);

/// Remedy for a name that is not among `names`: "did you mean 'x'?", or "use one of a, b, c" if
/// none is near().
std::string remedy(std::string_view text, std::span<const std::string_view> names);

/// Like remedy(), but also lists all names, which must be few: "did you mean 'a'? (one of a, b,
/// c)".
std::string remedy_of_all(std::string_view text, std::span<const std::string_view> names);

/// "a, b, c"; beyond `most` names, "a, b and 7 more".
std::string list_of(std::span<const std::string_view> names, std::size_t most = 64);

}  // namespace equarx::input
