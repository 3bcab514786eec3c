// What a user may have meant by a name that there is not.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace equarx::input {

/// The name that `text` may be a mistyping of: one that differs in upper and lower case only, that begins with it
/// or that it begins with (three letters at least), or that is up to a third of its letters away, of which two that
/// are exchanged count as one. The nearest of several, and the first of these. None if all are further away.
std::optional<std::string_view> near(std::string_view text,
                                     std::span<const std::string_view> names);

/// Whether `text` is not `name`, but so near() it that it can hardly mean anything else: up to two letters away.
bool is_misspelt(std::string_view text, std::string_view name);

/// What to do about a name that is none of `names`: "did you mean 'x'?", or "use one of a, b, c" if none is near().
std::string remedy(std::string_view text, std::span<const std::string_view> names);

/// The same of names that are few: "did you mean 'a'? (one of a, b, c)".
std::string remedy_of_all(std::string_view text, std::span<const std::string_view> names);

/// "a, b, c"; of more names than fit in a message, "a, b and 7 more".
std::string list_of(std::span<const std::string_view> names, std::size_t most = 40);

}  // namespace equarx::input
