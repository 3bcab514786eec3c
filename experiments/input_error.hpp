#pragma once

#include <stdexcept>
#include <string>

namespace equarx::experiments {

/// The user's input is wrong. One line: where, what, and what to do.
class InputError : public std::runtime_error {
 public:
  /// `place` is a JSON pointer such as "/tensor/shape", or "" for the whole document.
  InputError(const std::string& place, const std::string& message)
      : std::runtime_error(place.empty() ? message : place + ": " + message) {}
};

/// The program broke a promise of its own (a bound, a conservation law): our fault, never a result.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace equarx::experiments
