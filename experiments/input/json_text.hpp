// JSON as text: files, parsing, and what `--set` does.
#pragma once

#include <string>
#include <string_view>

#include "experiments/input/object_reader.hpp"

namespace equarx::input {

/// Parses JSON text. @throws InputError with line and column for malformed text, for a key that an object
/// has twice, and for nesting more than 100 deep.
Json parse_json(std::string_view text);

/// Reads the file. @throws InputError if it cannot be read.
std::string read_file(const std::string& path);

/// Whether a text names a file, and not something built in: it has a '/' or ends in ".json".
bool is_path(const std::string& text);

/// A value as `--set` has it: JSON, or a plain string if it is none. `place` is for errors.
/// @throws InputError for bytes that are no text, for a key that an object has twice, and for
/// nesting more than 100 deep.
Json parse_value(const std::string& text, const std::string& place);

}  // namespace equarx::input
