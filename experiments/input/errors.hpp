#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

namespace equarx::input {

/// Whether a byte would do something to a terminal instead of being shown.
constexpr bool is_control(unsigned char byte) {
  constexpr unsigned char kFirstPrintable = ' ';
  constexpr unsigned char kDelete = 0x7f;
  return byte < kFirstPrintable || byte == kDelete;
}

/// The user's input is wrong. One line: where, what, and what to do. Control characters that the input
/// brings into the message become question marks, so that it stays one line and harmless to a terminal.
class InputError : public std::runtime_error {
 public:
  /// `place` is a JSON pointer such as "/tensor/shape", or "" for the whole document.
  InputError(const std::string& place, const std::string& message)
      : std::runtime_error(printable(place.empty() ? message : place + ": " + message)),
        place_(place) {}

  /// The JSON pointer; "" for the whole document.
  const std::string& place() const { return place_; }

 private:
  static std::string printable(std::string text) {
    std::ranges::replace_if(text, is_control, '?');
    return text;
  }

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
