#include "tools/cli/messages.hpp"

#include <cstdio>

#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/os/printable.hpp"

namespace equarx::cli {

void print(const std::string& text) {
  const std::string shown = isatty(STDOUT_FILENO) == 1 ? os::printable_lines(text) : text;
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() ||
      std::fflush(stdout) != 0)
    throw input::InputError("", "cannot write to standard output");
}

void print_message(std::string_view lines) { print_raw_message(os::printable_lines(lines)); }

void print_raw_message(std::string_view text) {
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace equarx::cli
