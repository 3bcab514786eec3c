// Output of commands: results on standard output, messages on standard error.
#pragma once

#include <string>
#include <string_view>

namespace equarx::cli {

/// Writes to standard output; on a terminal without control sequences.
/// @throws input::InputError if the write fails
void print(const std::string& text);

/// Writes lines to standard error without control sequences. Ignores write errors (closed
/// descriptor, full disk).
void print_message(std::string_view lines);

/// Like print_message(), but keeps control sequences.
void print_raw_message(std::string_view text);

}  // namespace equarx::cli
