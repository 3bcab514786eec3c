// Error messages of options that are parsed as configuration keys.
#pragma once

#include <string>
#include <utility>

#include "experiments/input/errors.hpp"

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
  } catch (const input::InputError& error) {
    throw input::InputError("", option_message(error.what(), object));
  }
}

}  // namespace equarx::cli
