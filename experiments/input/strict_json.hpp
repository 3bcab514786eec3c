// JSON of which nothing is passed over in silence.
#pragma once

#include <string_view>

#include "experiments/input/object_reader.hpp"

namespace equarx::input {

/// Whether `//` and `/* */` may stand where spaces may.
enum class Comments { refused, allowed };

/// Parses one JSON document. @throws InputError for a key that an object has twice, of which the library itself would
/// keep one, and for nesting more than 100 deep, where copying the value could end the stack. @throws Json::exception,
/// the library's own, for what is no JSON.
Json parse_strictly(std::string_view text, Comments comments);

}  // namespace equarx::input
