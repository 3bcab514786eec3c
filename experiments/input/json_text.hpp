// JSON as text: files, parsing, and what `--set` does.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "experiments/input/errors.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::input {

/// Parses JSON text, in which comments are allowed, // and /* */. @throws InputError with line and column for malformed
/// text, for a key that an object has twice, and for nesting more than 100 deep.
Json parse_json(std::string_view text);

/// JSON as text, on one line, or with lines indented by so many spaces. Texts may hold what is no UTF-8, such as paths:
/// that is replaced.
std::string json_text(const Json& json, int indent = -1);

/// Reads the file. @throws InputError if it cannot be read: also if it is larger than the computer's memory, or a pipe
/// or device as of read_stream().
std::string read_file(const std::string& path);

/// Reads to the end of what may have none. @throws InputError that calls it `name` after 256 MiB
std::string read_stream(std::istream& stream, const std::string& name);

/// Calls `use` with the contents of the file. @throws InputError at `place` that names the file, if it cannot be
/// read or if `use` throws one.
template <typename Use>
auto read_named_file(const std::string& path, const std::string& place, Use&& use) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const InputError& error) {  // names it already
    throw InputError(place, error.what());
  }
  try {
    return std::forward<Use>(use)(text);
  } catch (const InputError& error) {
    throw InputError(place, "in " + path + ": " + error.what());
  }
}

/// Whether a text names a file, and not something built in: it has a '/' or ends in ".json".
bool is_path(const std::string& text);

/// A value as `--set` has it: JSON, or a plain string if it is none. `place` is for errors.
/// @throws InputError for what begins like an object, an array or a string in quotes and is no JSON, for bytes
/// that are no text, for a key that an object has twice, and for nesting more than 100 deep.
Json parse_value(const std::string& text, const std::string& place);

}  // namespace equarx::input
