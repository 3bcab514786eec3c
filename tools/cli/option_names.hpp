// Options that are read as the keys of a configuration, and called by their own names where they are wrong.
#pragma once

#include <string>
#include <utility>

#include "experiments/input/errors.hpp"

namespace equarx::cli {

/// A message whose place is a key below `object`, like "/topology/fully-connected: ...", said of the option of that
/// name: "--fully-connected: ...". `object` itself is called by its name, "topology: ..."; any other message stays as
/// it is.
std::string option_message(const std::string& message, const std::string& object);

/// Calls `use`, and renames what it complains of as option_message() does.
template <typename Use>
auto naming_options(const std::string& object, Use&& use) {
  try {
    return std::forward<Use>(use)();
  } catch (const input::InputError& error) {
    throw input::InputError("", option_message(error.what(), object));
  }
}

}  // namespace equarx::cli
