// What made a result: the program's version, and hashes of what it was made from.
#pragma once

#include <string>
#include <string_view>

#include "experiments/input/object_reader.hpp"
#include "experiments/output/version.hpp"

namespace equarx::output {

/// FNV-1a in 16 hexadecimal digits.
std::string text_hash(std::string_view text);

/// Hash of a resolved configuration: text_hash() of its JSON text.
std::string config_hash(const input::Json& resolved);

}  // namespace equarx::output
