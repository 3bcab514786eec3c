// Setting a value of a configuration that may not have its key yet.
#pragma once

#include <string>

#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// Sets the value at a JSON pointer. Objects on the way that are not there are made. An element of an
/// array is named by its index, or by its "label". What is an alternative to the key is removed
/// (set_member()). @throws InputError if the pointer leads nowhere.
void set_value(Json& config, const std::string& pointer, const Json& value);

/// The same, as `--set` does it: `text` is JSON, or a plain string if it is none.
void override_value(Json& config, const std::string& pointer, const std::string& text);

}  // namespace equarx::experiments
