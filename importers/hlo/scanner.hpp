// Cursor in HLO text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/exceptions/exceptions.hpp"

namespace equarx::hlo {

/// Reads words, names and bracketed text; comments (/* */ and //) count as white space.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// True if only white space is left.
  bool at_end();
  /// Returns the next character after white space; 0 at the end.
  char peek();
  /// Skips white space and, if the text starts with `expected`, skips that and returns true.
  bool take(std::string_view expected);
  /// True if only white space is left on the line.
  bool at_line_end();
  /// Moves to the start of the next line.
  void skip_line();
  /// Reads a word: letters, digits and any of "_.-". Empty if there is none.
  std::string_view word();
  /// Reads a name with an optional leading "%".
  std::string_view name();
  /// Reads up to the end of the line, or to one of `ends` outside brackets and quotes.
  std::string_view value(std::string_view ends);
  /// Reads the contents of the next pair of brackets, which may span lines.
  /// @throws exceptions::UserError if no bracket follows or it is not closed
  std::string_view bracketed();

  std::size_t position() const { return at_; }
  void move_to(std::size_t position) { at_ = position; }
  std::string_view text() const { return text_; }
  /// Line of the position, from 1. Amortized: counts on from the previous call.
  std::uint32_t line();
  /// Error at the current line.
  exceptions::UserError error(const std::string& message);

 private:
  void skip_space(bool over_lines);
  /// Skips the quoted text at the position.
  void skip_quoted();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;  // position up to which lines_ is counted
  std::uint32_t lines_ = 0;  // newlines before counted_
};

}  // namespace equarx::hlo
