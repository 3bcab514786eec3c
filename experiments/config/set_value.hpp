// Setting a value of a configuration that may not have its key yet.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Sets a key of an object of a configuration. Setting one of several alternatives (a tensor's `bytes` or
/// `shape`; the kinds of topology) removes the others.
void set_member(input::Json& object, const std::string& key, input::Json value);

/// Sets the value at a JSON pointer. Objects on the way that are not there are made. An element of an
/// array is named by its index, or by its "label". What is an alternative to the key is removed
/// (set_member()). A parameter of "hardware" that is a name or a path changes that chip.
/// @throws InputError if the pointer leads nowhere.
void set_value(input::Json& config, const std::string& pointer, const input::Json& value);

/// The same, as `--set` does it: `text` is JSON, or a plain string if it is none.
void override_value(input::Json& config, const std::string& pointer, const std::string& text);

}  // namespace equarx::config
