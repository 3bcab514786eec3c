#pragma once

#include <stdexcept>
#include <string>

#include "models/os/printable.hpp"

namespace equarx::input {

/// The user's input is wrong. One line: where, what, and what to do. Control characters and malformed UTF-8 that the
/// input brings into the message become question marks, so that it stays one line and harmless to a terminal.
class InputError : public std::runtime_error {
 public:
  /// `place` is a JSON pointer such as "/tensor/shape", or "" for the whole document.
  InputError(const std::string& place, const std::string& message)
      : std::runtime_error(os::printable(place.empty() ? message : place + ": " + message)),
        place_(place) {}

  /// The JSON pointer; "" for the whole document.
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// A key that no configuration has; its place is that of the key.
class UnknownKeyError : public InputError {
 public:
  using InputError::InputError;
};

/// The program broke a promise of its own (a bound, a conservation law): our fault, never a result.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace equarx::input
