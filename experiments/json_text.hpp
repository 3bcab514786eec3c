// JSON as text: files, parsing, and what `--set` does.
#pragma once

#include <string>
#include <string_view>

#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// Parses JSON text. @throws InputError with line and column for malformed text, and for a key that an
/// object has twice.
Json parse_json(std::string_view text);

/// Reads the file. @throws InputError if it cannot be read.
std::string read_file(const std::string& path);

/// Sets a key of an object of a configuration. Setting one of several alternatives (a tensor's `bytes` or
/// `shape`; the kinds of topology) removes the others.
void set_member(Json& object, const std::string& key, Json value);

/// Sets the value at a JSON pointer, as `--set` does: `text` is JSON, or a plain string if it is not,
/// with set_member(). @throws InputError for a pointer that leads nowhere.
void override_value(Json& config, const std::string& pointer, const std::string& text);

}  // namespace equarx::experiments
