#pragma once

#include <stdexcept>
#include <string>

#include "base/os/printable.hpp"

namespace equarx::input {

/// Invalid user input. One line: the pointer, the problem, and the remedy. Control characters and
/// malformed UTF-8 from the input are replaced by question marks, so that the message stays on one
/// line and is safe to print to a terminal.
class InputError : public std::runtime_error {
 public:
  /// `pointer` is a JSON pointer such as "/tensor/shape", or "" for the whole document.
  InputError(const std::string& pointer, const std::string& message)
      : std::runtime_error(os::printable(pointer.empty() ? message : pointer + ": " + message)),
        pointer_(pointer) {}

  /// The JSON pointer; "" for the whole document.
  const std::string& pointer() const { return pointer_; }

 private:
  std::string pointer_;
};

/// An unknown key; the pointer is that key's.
class UnknownKeyError : public InputError {
 public:
  using InputError::InputError;
};

/// A valid request that needs more HBM than its chips have. A result for sweeps, an error elsewhere.
class DoesNotFitError : public InputError {
 public:
  DoesNotFitError(const std::string& pointer, const std::string& message, double needs_bytes)
      : InputError(pointer, message), needs_bytes_(needs_bytes) {}

  /// HBM needed on each chip.
  double needs_bytes() const { return needs_bytes_; }

 private:
  double needs_bytes_;
};

/// Violation of an internal invariant (a bound, a conservation law): a bug in the program, never a
/// result.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace equarx::input
