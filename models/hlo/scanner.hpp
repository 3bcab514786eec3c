// A place in HLO text that moves forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace equarx::hlo {

/// Text that is no HLO. The message names the line.
class TextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads words, names and what is between brackets; comments (/* */ and //) count as white space.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Whether nothing but white space is left.
  bool at_end();
  /// The next character behind white space; 0 at the end.
  char peek();
  /// Whether what comes next, behind white space, is this text; then moves behind it.
  bool take(std::string_view expected);
  /// Whether a line ends before anything else comes.
  bool at_line_end();
  /// Moves to the beginning of the next line.
  void skip_line();
  /// A name or a word: letters, digits and any of "_.-". Empty if there is none.
  std::string_view word();
  /// A name with or without "%" before it.
  std::string_view name();
  /// All up to the end of the line, or up to one of `ends` outside of brackets and quotes.
  std::string_view value(std::string_view ends);
  /// What is between the bracket that comes next and the one that closes it, without them, on any number of lines.
  /// @throws TextError if none comes, or it does not close
  std::string_view bracketed();

  std::size_t position() const { return at_; }
  void move_to(std::size_t position) { at_ = position; }
  std::string_view text() const { return text_; }
  /// Of the position, from 1. Counts forward from where it was asked last.
  std::uint32_t line();
  /// A message that names the line.
  TextError error(const std::string& message);

 private:
  void skip_space(bool over_lines);
  /// Moves behind a text in quotes that begins here.
  void skip_quoted();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;  // up to here
  std::uint32_t lines_ = 0;  // that end before it
};

}  // namespace equarx::hlo
