// JSON text: reading files, parsing, and the values of `--set`.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/object_reader.hpp"

namespace equarx::input {

/// Parses JSON text; // and /* */ comments are allowed. @throws InputError with line and column for
/// malformed text, for a duplicate key, and for nesting deeper than 100 levels.
Json parse_json(std::string_view text);

/// Serializes JSON on one line, or with `indent` spaces per level. Invalid UTF-8, as paths may
/// contain, is replaced.
std::string json_text(const Json& json, int indent = -1);

/// Reads the whole file. @throws InputError if it cannot be read or is larger than the computer's
/// memory; pipes and devices are limited like read_stream().
std::string read_file(const std::string& path);

/// Reads a stream that may be endless. @throws InputError, calling it `name`, after 256 MiB
std::string read_stream(std::istream& stream, const std::string& name);

/// Calls `use` with the contents of the file. @throws InputError at `pointer`, naming the file, if
/// it cannot be read or if `use` throws one.
template <typename Use>
auto read_named_file(const std::string& path, const std::string& pointer, Use&& use) {
  return within(pointer, [&] {
    const std::string text = read_file(path);  // its errors name the file
    return within("in " + path, [&] { return std::forward<Use>(use)(text); });
  });
}

/// True if a text is the path of a file rather than a built-in name: it contains a '/' or ends in
/// ".json".
bool is_path(const std::string& text);

/// Parses the value of `--set`: JSON, or else a plain string. `pointer` is for errors. @throws
/// InputError for malformed JSON that begins like an object, an array or a quoted string, for bytes
/// that are not text, for a duplicate key, and for nesting deeper than 100 levels.
Json parse_value(const std::string& text, const std::string& pointer);

}  // namespace equarx::input
