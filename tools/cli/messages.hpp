// What a command says: its results on standard output, all else on standard error.
#pragma once

#include <string>
#include <string_view>

namespace equarx::cli {

/// Prints to standard output, as it is; on a terminal without what would do something to it.
/// @throws input::InputError if it cannot all be written
void print(const std::string& text);

/// Says lines on standard error, without what would do something to a terminal. That nobody can read them (standard
/// error is closed, or a file on a full disk) does not end what the command does.
void tell(std::string_view lines);

/// The same as it is, for what is to do something to a terminal.
void tell_terminal(std::string_view text);

}  // namespace equarx::cli
