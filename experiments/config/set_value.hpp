// Setting and removing values of a configuration.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"

namespace equarx::config {

/// Sets a key of a configuration object. Setting one of several alternatives (a tensor's `bytes` or
/// `shape`; the kinds of topology) removes the others.
void set_member(input::Json& object, const std::string& key, input::Json value);

/// Sets the value at a JSON pointer, creating missing objects on the path. Array elements are
/// addressed by index or by "label". Alternatives to the key are removed (set_member()). If
/// "hardware" is a name or a path, setting a parameter of it overrides that chip's. @throws
/// InputError if the pointer cannot be resolved.
void set_value(input::Json& config, const std::string& pointer, const input::Json& value);

/// Removes the key or the array element at a JSON pointer, for `--unset`. @throws InputError if it
/// is not set
void unset_value(input::Json& config, const std::string& pointer);

/// Like set_value(), for `--set`: `text` is JSON, or else a plain string.
void override_value(input::Json& config, const std::string& pointer, const std::string& text);

}  // namespace equarx::config
