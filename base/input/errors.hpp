// Invalid input, and conversions of errors of modules that have no JSON pointers.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/exceptions/exceptions.hpp"

namespace equarx::input {

using exceptions::InvariantError;
using exceptions::UserError;

/// Invalid input. The place is a JSON pointer such as "/tensor/shape", or "" for the whole document;
/// in the command line also an option or a file.
class InputError : public UserError {
 public:
  using UserError::UserError;

  /// The place.
  const std::string& pointer() const { return place(); }
};

/// An unknown key; the pointer is that key's.
class UnknownKeyError : public InputError {
 public:
  using InputError::InputError;
};

/// A valid request that needs more HBM than its chips have. A result for sweeps, an error elsewhere.
class DoesNotFitError : public InputError {
 public:
  DoesNotFitError(std::string pointer, std::string message, double needs_bytes)
      : InputError(std::move(pointer), std::move(message)), needs_bytes_(needs_bytes) {}

  /// HBM needed on each chip.
  double needs_bytes() const { return needs_bytes_; }

 private:
  double needs_bytes_;
};

/// Calls `act` and converts errors without JSON pointer, std::invalid_argument and UserError, to an
/// InputError at `pointer`. An InputError keeps its own pointer.
template <typename Act>
decltype(auto) at(const std::string& pointer, Act&& act) {
  try {
    return std::forward<Act>(act)();
  } catch (const InputError&) {
    throw;
  } catch (const UserError& error) {
    throw InputError(pointer, error.what());
  } catch (const std::invalid_argument& error) {
    throw InputError(pointer, error.what());
  }
}

/// Calls `act` and converts its UserErrors to InputErrors at `place`, the pointer, option or file
/// that `act` reads. Their own places become part of the message.
template <typename Act>
decltype(auto) within(const std::string& place, Act&& act) {
  try {
    return std::forward<Act>(act)();
  } catch (const UserError& error) {
    throw InputError(place, error.what());
  }
}

}  // namespace equarx::input
