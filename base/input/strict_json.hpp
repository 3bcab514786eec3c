// Strict JSON parsing: nothing is silently ignored.
#pragma once

#include <string_view>

#include "base/input/object_reader.hpp"

namespace equarx::input {

/// Policy for `//` and `/* */` comments.
enum class Comments { refused, allowed };

/// Parses one JSON document. @throws InputError for a duplicate key, which the library would
/// silently drop, and for nesting deeper than 100 levels, where copying the value could overflow
/// the stack. @throws Json::exception (the library's own) for malformed JSON.
Json parse_strictly(std::string_view text, Comments comments);

}  // namespace equarx::input
