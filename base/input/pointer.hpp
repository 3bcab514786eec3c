// JSON pointers (RFC 6901).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace equarx::input {

/// JSON pointer of a member of the object at `base`; '~' and '/' in the key are escaped.
std::string pointer(std::string_view base, std::string_view key);

/// JSON pointer of an element of the array at `base`.
std::string pointer(std::string_view base, std::size_t index);

}  // namespace equarx::input
