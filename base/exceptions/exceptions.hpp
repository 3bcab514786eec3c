// The family of the program's exceptions. (models/numerics/errors measures errors of numbers.)
#pragma once

#include <stdexcept>
#include <string>

namespace equarx::exceptions {

/// Base of the family. what() is one line, "place: message". Control characters and malformed UTF-8
/// in it are replaced by question marks, so that it is safe to print to a terminal.
class Error : public std::runtime_error {
 public:
  /// `place`: a JSON pointer, a line of a text, a node, a task, a file ...; may be empty
  Error(std::string place, std::string message);

  const std::string& place() const { return place_; }      ///< as given
  const std::string& message() const { return message_; }  ///< as given, without the place

 private:
  std::string place_;
  std::string message_;
};

/// Invalid input of a user. The message is the problem and the remedy.
class UserError : public Error {
 public:
  using Error::Error;
};

/// Violation of an internal invariant (a bound, a conservation law, the end of a simulation): a
/// defect of the program, never a result.
class InvariantError : public Error {
 public:
  explicit InvariantError(std::string message);
};

}  // namespace equarx::exceptions
