// Error messages of options that are parsed as configuration keys.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "base/input/errors.hpp"

namespace equarx::cli {

/// Rewrites a message about a key of `object`, "/topology/fully-connected: ...", as one about the
/// option, "--fully-connected: ...", and one about `object` as "topology: ..."; other messages are
/// unchanged.
std::string option_message(const std::string& message, const std::string& object);

/// Calls `use` and rewrites its error messages with option_message().
template <typename Use>
auto naming_options(const std::string& object, Use&& use) {
  try {
    return std::forward<Use>(use)();
  } catch (const input::UserError& error) {
    throw input::InputError("", option_message(error.what(), object));
  }
}

/// Returns the first option that is given; nullptr if none is. `options`: whether it is given, and
/// its name
inline const char* first_given(std::initializer_list<std::pair<bool, const char*>> options) {
  for (const auto& [given, name] : options)
    if (given) return name;
  return nullptr;
}

}  // namespace equarx::cli
